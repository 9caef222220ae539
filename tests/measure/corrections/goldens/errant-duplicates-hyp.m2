S After lunch he he goed home
A 6 6|||M:PUNCT|||.|||REQUIRED|||-NONE-|||0
A 0 1|||R:PREP|||Since|||REQUIRED|||-NONE-|||0
A 0 1|||R:PREP|||Since|||REQUIRED|||-NONE-|||0

S They sings loud
A 1 2|||R:VERB:SVA|||sing|||REQUIRED|||-NONE-|||0
