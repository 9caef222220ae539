"""The words and patterns that rules for learners look for: what verbs, adjectives and nouns go with, times, places.

Our own lists of what learners of English meet early. A pattern is a case-insensitive regular expression; a named
group in it is a slot in the reason of its rule (`rules.toml`).
"""

from __future__ import annotations


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(" ".join(phrase.split()) for phrase in text.split(","))


def _any(text: str) -> str:
    """One of these words, or patterns without spaces; an underscore stands for a space."""
    return f"(?:{'|'.join(text.split()).replace('_', ' ')})"


VERB_PHRASES = _phrases(
    """accuse of, agree with, agree on, aim at, apologise for, apologize for, apply for, apply to, approve of,
    argue with, argue about, arrive at, arrive in, ask for, believe in, belong to, benefit from, blame for,
    borrow from, care about, care for, come from, came from, compare with, compare to, compete with, complain
    about, concentrate on, congratulate on, consist of, contribute to, cope with, deal with, dealt with,
    decide on, depend on, depend upon, devote to, differ from, disagree with, dream of, dream about, escape
    from, explain to, fight for, focus on, forget about, happen to, hear about, heard about, heard of, hope
    for, insist on, invest in, involve in, laugh at, lead to, led to, learn from, learn about, lend to, listen
    to, look at, look for, look after, participate in, pay for, paid for, point at, point to, prepare for,
    prevent from, protect from, provide with, recover from, refer to, relate to, rely on, rely upon, remind
    of, reply to, respond to, result in, result from, search for, share with, shout at, smile at, speak to,
    spoke to, spend on, spent on, stare at, succeed in, suffer from, take care of, talk to, talk about, thank
    for, think of, think about, thought of, thought about, vote for, wait for, warn about, work for, work on,
    worry about, write to, wrote to"""
)
ADJECTIVE_PHRASES = _phrases(
    """accustomed to, addicted to, afraid of, amazed at, angry with, angry about, anxious about, ashamed of,
    associated with, aware of, bad at, bad for, based on, bored with, busy with, capable of, careful with,
    clever at, close to, compared with, compared to, concerned about, connected to, connected with, crowded
    with, covered with, curious about, dedicated to, dependent on, different from, disappointed with, eager
    for, equal to, essential for, excited about, exposed to, familiar with, famous for, fed up with, filled
    with, fond of, free from, frightened of, full of, good at, good for, grateful for, guilty of, happy about,
    happy with, harmful to, important for, important to, impressed by, incapable of, independent of,
    interested in, involved in, jealous of, keen on, kind to, known for, lacking in, limited to, located in,
    made of, made from, married to, necessary for, nervous about, opposed to, patient with, pleased with,
    polite to, poor in, popular with, prepared for, present at, proud of, ready for, related to, responsible
    for, rich in, rude to, satisfied with, scared of, short of, sick of, similar to, sorry for, sorry about,
    successful in, suitable for, superior to, sure of, sure about, surprised at, surprised by, suspicious of,
    tired of, typical of, unaware of, upset about, used to, useful for, worried about"""
)
NOUN_PHRASES = _phrases(
    """ability to, access to, addiction to, advantage of, advice on, alternative to, answer to, approach to,
    attack on, attention to, attitude to, attitude towards, awareness of, ban on, belief in, benefit of, cause
    of, choice of, comparison with, concern about, connection with, contribution to, cost of, cure for, damage
    to, danger of, decrease in, demand for, dependence on, desire for, difference between, difference in,
    difficulty in, disadvantage of, effect on, example of, experience of, experience in, fall in, fear of,
    focus on, hope for, idea of, impact on, importance of, improvement in, increase in, influence on,
    information about, interest in, invitation to, key to, knowledge of, lack of, limit to, love for, need
    for, number of, opinion of, opportunity for, possibility of, preference for, pressure on, problem with,
    progress in, question about, reaction to, reason for, relationship with, relationship between, reply to,
    research on, research into, respect for, responsibility for, result of, rise in, risk of, role in,
    satisfaction with, search for, solution to, success in, tax on, threat to, trouble with, use of, way of"""
)
_DIRECT = _any(
    """discuss enter marri marry contact reach approach mention emphasi[sz] stress lack answer request resembl
    attend visit affect influenc consider describ fac access question watch obey join demand comprehend lov
    respect study studi educat rais help ask tell"""
)
DIRECT_VERB = rf"(?P<verb>{_DIRECT}(?:e|es|ed|d|s|ing)?|told)"
ADVERB_OF_PLACE = (
    rf"(?P<place>{_any('home here there abroad overseas upstairs downstairs everywhere somewhere nearby')})\b"
)

MONTH = _any("january february march april may june july august september october november december")
WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
SMALL = "one two three four five six seven eight nine ten"
LARGE = "eleven twelve fifteen twenty thirty forty fifty sixty ninety hundreds?"
_HIS = _any("my his her their our your its")
_THE = "(?:(?:the|an?|this|that|my|his|her|their|our|your|its) )?"

WITHOUT_PREPOSITION = r"(?P<which>last|next|this|every|each|yesterday|tomorrow|today|tonight)\b"
DAY = (
    rf"(?:(?:the )?(?:\w+ )?{WEEKDAY}\b|(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {MONTH}|{MONTH} \d{{1,2}}\b|"
    rf"(?:the )?\w+(?:st|nd|rd|th) of {MONTH}|{_HIS} birthday|weekdays|(?:that|the same|the \w+) day|christmas day|"
    r"new year's)"
)
MOMENT = (
    rf"(?:(?:\d{{1,2}}|{_any(SMALL)}|eleven|twelve)\b(?::\d\d)?(?: o['’]?clock| ?[ap]\.?m\b|[.,;]|$)|"
    r"(?:noon|midnight|night|dawn|sunset|sunrise|lunchtime|christmas|easter|present|first|last|once)\b|"
    r"the (?:moment|weekend|end|beginning|start|age|time|same time)\b|th(?:at|is) (?:time|moment|age)\b)"
)
PERIOD = (
    rf"(?:{MONTH}\b|(?:the )?(?:spring|summer|autumn|winter)\b|[12]\d{{3}}\b|"
    r"the (?:year|morning|afternoon|evening|past|future|\d{4}s|\w+ century|early|late|last|next|coming|recent)\b|"
    r"(?:recent|ancient|modern|early|late) \w+|\w+ (?:minutes|hours|days|weeks|months|years)\b)"
)
BEGINNING = (
    rf"(?:[12]\d{{3}}\b|(?:last )?{MONTH}\b|{WEEKDAY}\b|yesterday\b|then\b|childhood\b|birth\b|"
    r"the (?:beginning|start|day|war|age)\b|last (?:week|month|year|summer|winter|night)\b|"
    r"(?:i|he|she|we|they) (?:was|were)\b|\d{1,2} o['’]?clock|primary school)"
)
AMOUNT = (
    rf"(?:an?|{_any(SMALL)}|{_any(LARGE)}|\d+|many|several|some|about|almost|over|more than|the (?:last|past)|a few|"
    r"a long|half)\b"
    r"(?: \w+){0,2}? (?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|decades?|century|centuries|time|while)\b"
)

_MOVING = _any(
    "return travell? walk mov driv fly flew drove sail runn? ran rush hurri invit brought bring send sent took"
)
MOVEMENT = (
    rf"(?:go|goes|going|went|gone|come|comes|coming|came|{_MOVING}(?:s|es|e|ed|ing|d)?)"
    r"(?: (?:back|away|me|us|him|her|them|it))?"
)
_SURFACES = _any(
    """floor wall table desk ceiling ground beach coast island road street page list screen phone telephone radio
    internet web website television tv computer farm bus train plane bike bicycle left right side way earth
    planet map face roof stage trip holiday facebook twitter youtube media line"""
)
SURFACE = rf"{_THE}(?:\w+ )?{_SURFACES}\b"
_POINTS = _any(
    """home school work university college airport station stop party meeting conference concert lesson wedding
    top bottom end door gate table address crossroads corner entrance office level stage point cinema theatre
    theater desk beginning front back speed price cost rate"""
)
POINT = rf"{_THE}(?:\w+ )?{_POINTS}\b"
_SPACES = _any(
    """room kitchen bedroom house building city town village country countries area region places? world book
    newspaper picture photo film movie story article essay text car bed hospital prison garden park street sky
    water sea river forest box bag society class classroom group team family life north south east west middle
    hand mind heart"""
)
SPACE = rf"(?:(?:(?:some|many|most|all|every|other) )*{_THE}(?:\w+ )?{_SPACES}\b|(?!{MONTH}|{WEEKDAY})(?-i:[A-Z]\w+))"
_BY = _any(
    """car bus train bicycle bike plane boat ship taxi underground air sea land email e-mail phone telephone post
    letter hand heart accident mistake chance law"""
)
MEANS = rf"(?:{_BY}|\w{{2,}}ing)\b"
PARTICIPLE = _any(
    r"""\w{2,}ed made written given taken done built broken chosen seen known told brought bought sold sent driven
    led held kept caught taught found lost won run set put shown born hit hurt stolen spoken understood"""
)

STATIVE_ING = "knowing|believing|preferring|belonging|owning|needing|agreeing|understanding"

UNCOUNTABLE = _any(
    """accommodation advice baggage behaviou?r bread cash clothing damage electricity employment equipment
    evidence feedback fun furniture garbage happiness health help homework housework housing information
    jewellery jewelry knowledge laughter leisure luck luggage machinery money music news patience pollution
    poverty progress rain research rubbish safety scenery shopping software stuff traffic transport
    transportation travel trouble unemployment violence water wealth weather work"""
)
_NO_NOUN = (
    rf"(?=\W*$|[.,;:!?]| {_any('about for on to in from with at and or but is was when that last next every')}\b|"
    r" (?:yesterday|today)\b)"
)
WITH_UNCOUNTABLE = (
    rf"(?:\w+ly )?(?:good|bad|new|useful|nice|some|more|great )?(?: ?)(?P<noun>{UNCOUNTABLE}){_NO_NOUN}"
)
_EST = _any(
    """bigg larg small high low old young long short strong great easi hard happi fast new near cheap rich poor
    tall slow thin thick quiet loud smart lat earli clos wid deep saf nic simpl
    heavi weak bright clean cold hott warm"""
)
ONLY_ONE_SUCH = (
    rf"(?P<which>best|worst|{_EST}est|(?:most|least) \w{{4,}}(?<!people)(?<!things)|"
    rf"{_any('first second third only same whole following latter former')})\b(?! (?:of all|time|aid|class))"
)
_ONLY = _any(
    """world sun moon sky internet environment countryside universe elderly police weather
    unemployed beginning end"""
)
ONLY_ONE = rf"(?P<which>{_ONLY})\b"
_WITH_THE = _any(
    r"""United Netherlands Philippines UK USA US U\.S\. UN EU European_Union Internet Pacific Atlantic
    Mediterranean Middle_East Nile Amazon Thames Alps Olympic"""
)
NAME_WITH_THE = rf"(?-i:{_WITH_THE})"
NAME_WITHOUT = rf"(?!{NAME_WITH_THE}|english|french|spanish|german|chinese)(?-i:[A-Z]\w*[^s\W])\b{_NO_NOUN}"
IN_GENERAL = (
    rf"{_any('life nature society love happiness freedom music art science technology education people children')}"
    r"\b(?!['’]| (?:of|that|which|who|in|at|on|with|from)\b)"
)
FIELD = (
    _any(
        """breakfast lunch dinner supper football soccer tennis basketball volleyball chess golf baseball english
        french spanish german chinese mathematics maths? biology chemistry physics history geography"""
    )
    + rf"{_NO_NOUN[:-1]}|every)"
)
BEING = rf"(?P<verb>{_any('am is are was were be being been become becomes became becoming as')})"

MORE_THAN_ONE = rf"(?:\w+ )?(?:{UNCOUNTABLE}|people|children|men|women|\w+[^su\W]s)(?: of)?{_NO_NOUN}"
ONE_OF_A_KIND = rf"(?:very |good |great |young )*(?!{UNCOUNTABLE})\w+(?<!s)\b"
COUNTABLE = rf"(?!(?:\w+ ){{0,2}}?{UNCOUNTABLE}\b)(?:(?:new|old|big|small|good|nice) )?(?-i:[a-z])\w*(?<!s){_NO_NOUN}"
PLURAL = r".*s|people|children|men|women|feet|teeth|criteria|phenomena|media"
_MANY = _any(
    rf"""many few several both various numerous these those {SMALL[4:]} hundreds_of thousands_of a_number_of
    a_lot_of lots_of \d+"""
)
QUANTITY = rf"(?P<quantity>{_MANY})(?: of)?(?: the| {_HIS})?(?: \w+){{0,2}}"
ONE_EACH = (
    rf"(?P<quantity>{_any('an? each every another this')})(?: (?!of\b|number\b|lot\b|few\b|is\b|was\b)\w+){{0,1}}"
)

_MODALS = _any(
    """can could will would shall should may might must can't cannot won't wouldn't couldn't shouldn't do does
    did don't doesn't didn't"""
)
MODAL = rf"(?P<helper>{_MODALS})(?: not| never| also| always| only)?"
BASE_FORM = r"\w*(?:[^sdg]|ss|need|send|read|spend|find|sing|bring|add|build|feed|hold|stand|lead)"
BEFORE_ING = rf"(?P<preposition>{_any('of for by without about at from before instead_of forward_to')})"
_ENJOY = _any(
    """enjoy finish avoid suggest consider mind practi[sc] keep kept miss deny denied risk imagin admit recommend
    postpon quit"""
)
VERB_WITH_ING = rf"(?P<verb>{_ENJOY}(?:e|es|s|ed|ing|ted|ting)?)"
_WANT = _any(
    """want decid hop plan need agre promis refus offer learn expect manag seem fail wish prepar would_lik afford
    intend choos"""
)
VERB_WITH_TO = rf"(?P<verb>{_WANT}(?:e|es|s|ed|ing|d|ned)?|chose)"
HAVE = rf"(?P<helper>{_any('have has had having')}|(?:have|has|had)n't)(?: not| never| already| just| also| always)?"
BE = rf"(?P<helper>{_any('am is are was were be been being')}|(?:is|are|was|were)n't)(?: not| also| always| often)?"
PAST = _any(
    r"""\w+ed was were went had did made took saw came got gave said told found thought bought ate left met began
    wrote ran felt knew spent drank drove fell flew forgot grew heard held kept lost paid sat sent slept sold spoke
    stood taught threw understood woke won wore broke brought built caught chose became sang swam stole rode"""
)
NOT_PAST = rf"(?!{PAST}$)\w+"
PAST_TIME = r".*?\b(?P<time>yesterday|ago|last (?:night|week|month|year|summer|winter|\w+day))\b"
STATIVE = _phrases(
    """agree, believe, belong, consist, contain, cost, depend, deserve, differ, disagree, exist, know, lack, like,
    love, matter, mean, need, own, possess, prefer, resemble, seem, suppose, understand, want"""
)
"""Verbs that learners put after *be* and that have no progressive, or not with the same meaning."""
NOT_STATIVE = rf"(?!(?:{'|'.join(STATIVE)})$)\w+"
BE_AND_STATIVE = rf"(?:\w+['’](?:m|re|s)|am|is|are|was|were)(?: \w+)*? (?:(?:{'|'.join(STATIVE)})s?|{STATIVE_ING})"
PARTICIPLES = (
    rf"\w+ed|{PARTICIPLE}|gone|come|been|had|become|begun|eaten|fallen|forgotten|gotten|grown|heard|left|lived|met"
)
PARTICIPLES += (
    "|paid|read|said|sat|slept|stood|stopped|swum|thought|understood|worn|flown|drunk|driven|ridden|rung|sung|spent"
)
ING_OR_PARTICIPLE = rf"\w+ing|{PARTICIPLES}|born"
ONE_SUBJECT = (
    r"(?!(?:i|you|we|they|these|those|people|children|men|women|and|or|to|not|\w+n['’]t|can|could|will|would|shall|"
    r"should|may|might|must|do|does|did)$)(?:\w*[^s\W]|this|his|is)"
)
MANY_SUBJECT = r"(?:i|you|we|they|these|those|people|children|men|women|both|(?!(?:this|his|is|was|has|does)$)\w+s)"
MADE_FORM = (
    r"(?:her|him|me|our|their|them|they|your)['’]s|hisself|theirself|theirselves|themself"
    r"|\w*(?:children|feet|men|teeth|mice|geese|life|wife|knife|leaf|shelf|wolf|thief)s"
)
LISTS = {
    name: "|".join(text.split())
    for name, text in {
        "DET": r"the an? my your his her its our their this these those some that no all most many several two three",
        "UNIT": """second minute hour day night week month year decade century mile kilometer kilometre meter metre
            foot inch page word letter story storey bedroom room person man woman part stage step course point star
            lane seat door piece stone speed pound ton wave""",
        "TENS": "twenty thirty forty fifty sixty seventy eighty ninety",
        "ONES": "one two three four five six seven eight nine",
        "TIMES": "bit minute moment while hour day week month year time turn second lifetime night summer length",
        "THE_PLACES": "netherlands philippines maldives bahamas uk usa",
        "NEWS": "news information advice furniture homework luggage equipment",
        "STATIVE_ING": STATIVE_ING,
        "SAFE_BASE": """say ask tell speak look know see go take make give pay eat write read think understand learn
            buy choose sell bring send teach wear win lose become add agree explain use""",
        "OCCUPATION": """engineer teacher doctor nurse waiter waitress lawyer student secretary accountant architect
            dentist programmer translator journalist farmer mechanic electrician plumber pilot actor actress singer
            scientist receptionist babysitter salesman policeman hairdresser shopkeeper cashier""",
        "COLLECTIVE": """family crowd crew staff team group opposition rest number kind sort type class public world
            past list lot other most least first last""",
        "QUANTITIES": """number lot variety majority minority couple handful half rest range series set pair team kind
            type sort crowd host bunch dozen plenty mix mixture total percentage proportion part fraction third
            quarter percent family class collection array bulk mass group crew flock herd swarm string pack wealth
            cluster combination portion sample selection succession sum generation body bulk percent""",
    }.items()
}
"""Words that patterns of whole errors name (`grammar.py`)."""
