S My sister have two dog and she feed it every day .
A 2 3|||R:VERB:SVA|||has|||REQUIRED|||-NONE-|||0
A 4 5|||R:NOUN:NUM|||dogs|||REQUIRED|||-NONE-|||0
A 8 9|||R:PRON|||him|||REQUIRED|||-NONE-|||0
A 2 3|||R:VERB:TENSE|||had|||REQUIRED|||-NONE-|||1

S We went at the beach because weather was nice .
A 2 3|||R:PREP|||to|||REQUIRED|||-NONE-|||0
A 6 6|||M:DET|||our|||REQUIRED|||-NONE-|||0
A 9 9|||M:ADV|||there|||REQUIRED|||-NONE-|||1

S The café opens at eight o'clock on mornings .
A 6 7|||R:PREP|||in|||REQUIRED|||-NONE-|||0
A 7 8|||R:NOUN|||mornîngs|||REQUIRED|||-NONE-|||0

S Nobody could explained me the rules .
A 2 3|||R:VERB|||explain|||REQUIRED|||-NONE-|||0
A 3 3|||M:PREP|||to|||REQUIRED|||-NONE-|||0

S He is a very clever boy .
A 3 4|||U:ADV||||||REQUIRED|||-NONE-|||0

S I like to swimming in summer with naïve joy
A 2 4|||R:VERB:FORM|||to swim|||REQUIRED|||-NONE-|||0
A 2 4|||R:VERB:FORM|||swimming|||REQUIRED|||-NONE-|||0

S She said that that it was too late late
A 2 3|||U:CONJ||||||REQUIRED|||-NONE-|||0
A 8 9|||U:NOUN||||||REQUIRED|||-NONE-|||0
A 9 9|||M:PUNCT|||.|||REQUIRED|||-NONE-|||0

S Last winter it snow a lot in our village .
A 3 4|||R:VERB:TENSE|||snowed|||REQUIRED|||-NONE-|||0
A 4 6|||UNK|||a lot|||REQUIRED|||-NONE-|||0

S Many informations was wrong .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0
A 0 1|||R:DET|||Much|||REQUIRED|||-NONE-|||1
A 1 2|||R:NOUN:NUM|||information|||REQUIRED|||-NONE-|||1
A 2 3|||R:VERB:SVA|||were|||REQUIRED|||-NONE-|||1
