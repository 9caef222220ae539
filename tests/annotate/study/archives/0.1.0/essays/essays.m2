S We waited on the bus stop for our friend .
A 2 3|||Prep|||at|||REQUIRED|||-NONE-|||0

S He came with a bicycle from the city .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0

S She is good in maths and she likes of swimming at the lake .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0

S 😀 Naïve , is n't it ?
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0

S They discussed about the plan during two hours .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0

S After that they went to home .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0

