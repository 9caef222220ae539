S My sister have two dog and she feed it every day .
A 2 3|||R:VERB:SVA|||has|||REQUIRED|||-NONE-|||0
A 4 5|||R:NOUN:NUM|||dogs|||REQUIRED|||-NONE-|||0
A 7 8|||R:VERB:SVA|||feeds|||REQUIRED|||-NONE-|||0
A 8 9|||R:PRON|||them|||REQUIRED|||-NONE-|||0
A 2 3|||R:VERB:SVA|||has|||REQUIRED|||-NONE-|||1
A 3 5|||R:OTHER|||a dog|||REQUIRED|||-NONE-|||1
A 7 8|||R:VERB:SVA|||feeds|||REQUIRED|||-NONE-|||1

S We went at the beach because weather was nice .
A 2 3|||R:PREP|||to|||REQUIRED|||-NONE-|||0
A 6 6|||M:DET|||the|||REQUIRED|||-NONE-|||0
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1
A 2 3|||R:PREP|||to|||REQUIRED|||-NONE-|||2
A 6 6|||M:DET|||the|||REQUIRED|||-NONE-|||2
A 6 7|||R:SPELL|||Weather|||REQUIRED|||-NONE-|||2

S The café opens at eight o'clock on mornings .
A 6 8|||R:OTHER|||in the morning|||REQUIRED|||-NONE-|||1
A 6 7|||R:PREP|||in|||REQUIRED|||-NONE-|||0
A 7 7|||M:DET|||the|||REQUIRED|||-NONE-|||0
A 7 8|||R:NOUN:NUM|||morning|||REQUIRED|||-NONE-|||0

S Nobody could explained me the rules .
A 2 3|||R:VERB:FORM|||explain|||REQUIRED|||-NONE-|||0
A 3 6|||UNK|||me the rules|||REQUIRED|||-NONE-|||0

S He is a very clever boy .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0

S I like to swimming in summer with naïve joy

S She said that that it was too late late
A 2 3|||U:CONJ||||||REQUIRED|||-NONE-|||0
A 8 9|||U:NOUN|||-NONE-|||REQUIRED|||-NONE-|||0
A 9 9|||M:PUNCT|||.|||REQUIRED|||-NONE-|||0
A 9 9|||M:OTHER|||again .|||REQUIRED|||-NONE-|||0

S Last winter it snow a lot in our village .
A 3 4|||R:VERB:TENSE|||snowed|||REQUIRED|||-NONE-|||0
A 3 4|||R:VERB:TENSE|||snowed||had snowed|||REQUIRED|||-NONE-|||1
A 4 6|||R:OTHER|||heavily|||REQUIRED|||-NONE-|||1
A 3 4|||R:VERB|||snowed|||REQUIRED|||-NONE-|||2
A 4 6|||UNK|||a lot|||REQUIRED|||-NONE-|||2

S Many informations was wrong .
A 0 2|||R:NOUN|||Much information|||REQUIRED|||-NONE-|||0
A 2 3|||R:VERB:SVA|||was|||REQUIRED|||-NONE-|||1
A 0 1|||R:DET|||Much|||REQUIRED|||-NONE-|||1
A 1 2|||R:NOUN:INFL|||information|||REQUIRED|||-NONE-|||1
