S After lunch he he goed home
A 3 4|||U:PRON||||||REQUIRED|||-NONE-|||0
A 6 6|||M:PUNCT|||.|||REQUIRED|||-NONE-|||0
A 6 6|||M:PUNCT|||.|||REQUIRED|||-NONE-|||0
A 4 5|||R:VERB:INFL|||went|||REQUIRED|||-NONE-|||0

S They sings loud
A 1 2|||R:VERB:SVA|||sing|||REQUIRED|||-NONE-|||0
A 2 3|||R:ADV|||loudly|||REQUIRED|||-NONE-|||0
A 2 3|||R:ADV|||loudly|||REQUIRED|||-NONE-|||0
