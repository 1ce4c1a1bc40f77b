"""Words that made-up records consist of. The first ones of a list are drawn most often."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _listed(text: str) -> tuple[str, ...]:
    return tuple(" ".join(part.split()) for part in text.split(","))


ENGLISH_MEN = _words(
    """James Robert John Michael William David Richard Joseph Thomas Charles Christopher Daniel Matthew Anthony Mark
    Donald Steven Andrew Paul Joshua Kenneth Kevin Brian Timothy Ronald George Jason Edward Jeffrey Ryan Jacob Nicholas
    Gary Eric Jonathan Stephen Larry Justin Scott Brandon Benjamin Samuel Gregory Alexander Patrick Frank Raymond Jack
    Dennis Jerry Tyler Aaron Henry Douglas Peter Adam Nathan Zachary Walter Kyle Harold Carl Arthur Roger Gerald"""
)
ENGLISH_WOMEN = _words(
    """Mary Patricia Jennifer Linda Elizabeth Barbara Susan Jessica Sarah Karen Lisa Nancy Sandra Betty Ashley Emily
    Kimberly Margaret Donna Michelle Carol Amanda Melissa Deborah Stephanie Rebecca Sharon Laura Cynthia Dorothy Amy
    Kathleen Angela Shirley Emma Brenda Pamela Nicole Anna Samantha Katherine Christine Debra Rachel Carolyn Janet Maria
    Catherine Heather Diane Olivia Julie Joyce Victoria Ruth Virginia Lauren Kelly Christina Joan Evelyn Judith Megan"""
)
SHORT_NAMES = {
    "James": "Jim",
    "Robert": "Bob",
    "John": "Jack",
    "Michael": "Mike",
    "William": "Bill",
    "David": "Dave",
    "Richard": "Dick",
    "Joseph": "Joe",
    "Thomas": "Tom",
    "Charles": "Charlie",
    "Christopher": "Chris",
    "Daniel": "Dan",
    "Matthew": "Matt",
    "Anthony": "Tony",
    "Andrew": "Andy",
    "Edward": "Ted",
    "Nicholas": "Nick",
    "Benjamin": "Ben",
    "Samuel": "Sam",
    "Gregory": "Greg",
    "Alexander": "Alex",
    "Patricia": "Pat",
    "Jennifer": "Jenny",
    "Elizabeth": "Liz",
    "Barbara": "Barb",
    "Susan": "Sue",
    "Kimberly": "Kim",
    "Margaret": "Peggy",
    "Deborah": "Debbie",
    "Rebecca": "Becky",
    "Katherine": "Kate",
    "Catherine": "Cathy",
    "Christine": "Chris",
    "Victoria": "Vicky",
    "Pamela": "Pam",
}
ENGLISH_SURNAMES = _words(
    """Smith Johnson Williams Brown Jones Davis Miller Wilson Moore Taylor Anderson Thomas Jackson White Harris Martin
    Thompson Clark Lewis Robinson Walker Young Allen King Wright Scott Hill Green Adams Nelson Baker Hall Campbell
    Mitchell Carter Roberts Phillips Evans Turner Parker Collins Edwards Stewart Morris Murphy Cook Rogers Morgan Cooper
    Peterson Reed Bailey Bell Kelly Howard Ward Cox Richardson Wood Watson Brooks Bennett Gray Hughes Price Myers Long
    Foster Sanders Ross Powell Sullivan Russell Ortiz Jenkins Perry Butler Barnes Fisher Henderson Coleman Simmons
    Patterson Jordan Reynolds Hamilton Graham Griffin Wallace West Cole Hayes Bryant Herrera Gibson Ellis Stevens Murray
    Ford Marshall Owens McDonald Harrison Kennedy Wells Woods Washington Burns Gordon Shaw Holmes Rice Robertson Hunt
    Black Daniels Palmer Mills Nichols Grant Knight Ferguson Rose Stone Hawkins Dunn Perkins Hudson Spencer Gardner
    Stephens Payne Pierce Berry Matthews Arnold Wagner Willis Ray Watkins Olson Carroll Duncan Snyder Hart Cunningham
    Bradley Lane Andrews Ruiz Harper Fox Riley Armstrong Carpenter Weaver Greene Lawrence Elliott Chavez Sims Austin"""
)
ENGLISH_STREETS = _words(
    """High Station Church Park Victoria Green Manor Kings Queens Mill School North South West East London York Albert
    Chapel Grange Highfield Springfield Windsor Alexandra Richmond Broad Castle Bridge Orchard Clarence Oak Elm Cedar
    Maple Willow Ash Beech Birch Hazel Holly Cross Market Abbey Priory Meadow Spring Forest Lake River Garden"""
)
STREET_TYPES = {"Street": "St", "Road": "Rd", "Lane": "Ln", "Avenue": "Ave", "Close": "Cl", "Drive": "Dr"}
ENGLISH_CITIES = _words(
    """Bristol Leeds Sheffield Leicester Coventry Bradford Nottingham Plymouth Derby Southampton Portsmouth Brighton
    Reading Northampton Luton Bolton Bournemouth Norwich Swindon Southend Middlesbrough Peterborough Cambridge Doncaster
    York Gloucester Watford Oxford Poole Huddersfield Ipswich Blackpool Preston Exeter Cheltenham Chester Colchester"""
)
GERMAN_MEN = _words(
    """Peter Michael Thomas Andreas Wolfgang Klaus Jürgen Günter Stefan Christian Uwe Werner Hans Horst Dieter Manfred
    Frank Bernd Martin Alexander Matthias Jörg Sebastian Daniel Karl Helmut Markus Jan Tobias Rainer Florian Björn Jens
    Holger Christoph Dirk Ralf Volker Felix Maximilian Lukas Götz Sören Rüdiger Käthe Norbert Gerd Kurt Heinz Walter"""
)
GERMAN_WOMEN = _words(
    """Ursula Maria Monika Petra Elisabeth Sabine Renate Helga Karin Brigitte Ingrid Erika Andrea Gisela Claudia Susanne
    Gabriele Christa Christine Birgit Barbara Heike Angelika Katharina Anja Martina Stefanie Kerstin Jutta Silke Bärbel
    Julia Nicole Anna Marlies Ulrike Melanie Simone Daniela Käthe Jana Franziska Sonja Lena Hannelore Grit Antje"""
)
GERMAN_SURNAMES = _words(
    """Müller Schmidt Schneider Fischer Weber Meyer Wagner Becker Schulz Hoffmann Schäfer Koch Bauer Richter Klein Wolf
    Schröder Neumann Schwarz Zimmermann Braun Krüger Hofmann Hartmann Lange Schmitt Werner Krause Meier Lehmann Schmid
    Schulze Maier Köhler Herrmann König Walter Mayer Huber Kaiser Fuchs Peters Lang Scholz Möller Weiß Jung Hahn
    Schubert Vogel Friedrich Keller Günther Frank Berger Winkler Roth Beck Lorenz Baumann Franke Albrecht Schuster Simon
    Ludwig Böhm Winter Kraus Martin Schumacher Krämer Vogt Stein Jäger Otto Sommer Groß Seidel Heinrich Brandt Haas
    Schreiber Graf Schulte Dietrich Ziegler Kuhn Kühn Pohl Engel Horn Busch Bergmann Thomas Voigt Sauer Arnold Wolff
    Pfeiffer Weiss Strauß Förster Böttcher Täubner Rößler Gärtner Bäcker Grünwald Löffler Hübner Kühne Büttner Röder"""
)
GERMAN_STREETS = _listed(
    """Hauptstraße, Schulstraße, Gartenstraße, Dorfstraße, Bahnhofstraße, Bergstraße, Birkenweg, Lindenstraße,
    Kirchstraße, Waldstraße, Ringstraße, Schillerstraße, Goethestraße, Amselweg, Jahnstraße, Mühlenweg, Buchenweg,
    Rosenweg, Wiesenstraße, Mozartstraße, Lange Straße, Königsallee, Berliner Straße, Münchner Straße, Am Markt,
    Marktplatz, Poststraße, Mühlstraße, Friedhofstraße, Blumenstraße, Feldstraße, Lerchenweg, Kastanienallee,
    An der Weißen Brücke, Große Gasse, Schloßplatz, Brückenstraße, Grüner Weg, Höhenweg, Parkstraße, Beethovenstraße"""
)
GERMAN_CITIES = {
    "Köln": "50",
    "München": "80",
    "Nürnberg": "90",
    "Düsseldorf": "40",
    "Frankfurt am Main": "60",
    "Lübeck": "23",
    "Osnabrück": "49",
    "Göttingen": "37",
    "Würzburg": "97",
    "Mönchengladbach": "41",
    "Gießen": "35",
    "Münster": "48",
    "Kassel": "34",
    "Erfurt": "99",
    "Dresden": "01",
    "Rostock": "18",
    "Halle (Saale)": "06",
    "Freiburg im Breisgau": "79",
    "Saarbrücken": "66",
    "Weißenfels": "06",
}
FRENCH_MEN = _listed(
    """Jean, Pierre, Michel, André, Philippe, René, Alain, Jacques, Bernard, Marcel, Daniel, Gérard, François,
    Frédéric, Stéphane, Jérôme, Sébastien, Loïc, Benoît, Rémi, Théo, Léo, Jean-Pierre, Jean-Claude, Jean-François,
    Pierre-Yves, Jean-Luc, Xavier, Olivier, Grégoire, Étienne, Éric, Hervé, Noël, Joël, Raphaël, Anaël, Nicolas,
    Thierry, Laurent, Cédric"""
)
FRENCH_WOMEN = _listed(
    """Marie, Jeanne, Françoise, Monique, Catherine, Nathalie, Isabelle, Hélène, Valérie, Sylvie, Véronique, Céline,
    Aurélie, Mélanie, Léa, Chloé, Zoé, Anaïs, Maëlle, Noémie, Élodie, Anne-Marie, Marie-Claude, Marie-Thérèse,
    Anne-Sophie, Marie-Hélène, Geneviève, Thérèse, Inès, Agnès, Béatrice, Cécile, Delphine, Émilie, Élise, Gaëlle,
    Joëlle, Laëtitia, Régine, Salomé"""
)
FRENCH_SURNAMES = (
    *("Martin", "Bernard", "Thomas", "Petit", "Robert", "Richard", "Durand", "Dubois", "Moreau", "Laurent", "Simon"),
    *("Michel", "Lefèvre", "Leroy", "Roux", "David", "Bertrand", "Morel", "Fournier", "Girard", "Bonnet", "Dupont"),
    *("Lambert", "Fontaine", "Rousseau", "Vincent", "Muller", "Lefebvre", "Faure", "André", "Mercier", "Blanc"),
    *("Guérin", "Boyer", "Garnier", "Chevalier", "François", "Legrand", "Gauthier", "Perrin", "Robin", "Clément"),
    *("Morin", "Nicolas", "Henry", "Roussel", "Mathieu", "Gautier", "Masson", "Marchand", "Duval", "Denis", "Dumont"),
    *("Lemaire", "Noël", "Meyer", "Dufour", "Meunier", "Brun", "Blanchard", "Giraud", "Joly", "Rivière", "Lucas"),
    *("de La Tour", "Le Goff", "d'Alembert", "de Saint-Aubin", "Le Bihan", "du Bois", "des Ormes", "de L'Isle"),
    *("Le Guen", "de Villiers", "L'Hermitte", "La Fontaine", "de La Croix", "d'Aubigné", "Saint-Martin", "Bérenger"),
    *(
        "Béranger",
        "Côté",
        "Crépin",
        "Fabrègue",
        "Géraud",
        "Hérisson",
        "Lécuyer",
        "Maréchal",
        "Péron",
        "Rémy",
        "Sénéchal",
    ),
)
FRENCH_STREETS = _listed(
    """rue de la Gare, rue Victor Hugo, avenue Jean Jaurès, boulevard Saint-Michel, place de la République,
    rue du Général de Gaulle, rue des Écoles, avenue de la Liberté, rue Pasteur, chemin des Vignes,
    allée des Tilleuls, rue Émile Zola, boulevard Gambetta, rue de l'Église, impasse des Lilas, rue du Château,
    avenue du Maréchal Foch, rue Saint-Honoré, quai des Orfèvres, rue de Verdun, rue du Moulin, route de Paris,
    rue Jules Ferry, rue des Prés, boulevard de Strasbourg, rue Molière"""
)
FRENCH_CITIES = {
    "Saint-Étienne": "42",
    "Orléans": "45",
    "Nîmes": "30",
    "Besançon": "25",
    "Béziers": "34",
    "Saint-Denis": "93",
    "Le Havre": "76",
    "Angoulême": "16",
    "Châlons-en-Champagne": "51",
    "La Roche-sur-Yon": "85",
    "Évreux": "27",
    "Lyon": "69",
    "Rennes": "35",
    "Mâcon": "71",
    "Sète": "34",
    "Saint-Malo": "35",
}
FRENCH_FIRMS = _listed(
    """Boulangerie, Menuiserie, Cabinet, Garage, Pharmacie, Imprimerie, Transports, Pépinières, Assurances,
    Études et Conseil, Charpente, Électricité, Fromagerie, Librairie, Architectes"""
)
FRENCH_JOBS = ("Directeur", "Gérante", "Acheteur", "Comptable", "Assistante", "Chef de projet", "Ingénieur", "DRH")
TRADES = {
    "Engineering": "Eng.",
    "Logistics": "Log.",
    "Manufacturing": "Mfg",
    "Construction": "Constr.",
    "Consulting": "Consult.",
    "Technologies": "Tech",
    "Services": "Svcs",
    "Foods": "Foods",
    "Roofing": "Roofing",
    "Plumbing": "Plumbing",
    "Packaging": "Pkg",
    "Chemicals": "Chem.",
    "Instruments": "Instr.",
    "Marine": "Marine",
    "Textiles": "Textiles",
    "Printing": "Printing",
    "Security": "Security",
    "Electronics": "Elec.",
    "Property": "Property",
    "Energy": "Energy",
    "Systems": "Sys.",
    "Pharmaceuticals": "Pharma",
    "Furniture": "Furniture",
    "Automotive": "Auto",
}
FIRM_WORDS = _words(
    """Apex Summit Northern Atlas Pioneer Meridian Sterling Harbour Falcon Crown Beacon Delta Vertex Orion Granite
    Cobalt Silver Evergreen Phoenix Liberty Heritage Compass Anchor Royal Pacific Baltic Nordic Alpine Iberian Hanseatic
    Global United Premier Allied Central Coastal Dynamic Elite First Modern National Optimal Quantum Rapid Solid Trans
    Ultra Vital Westbridge Oakfield Redwood Ironside Highland Lowland Kestrel Osprey Lynx Badger Otter Heron"""
)
LEGAL_FORMS = {
    "Ltd": ("Limited", "Ltd.", "LTD"),
    "Inc.": ("Incorporated", "Inc", "INC"),
    "LLC": ("L.L.C.", "Limited Liability Company"),
    "GmbH": ("Gesellschaft mbH", "G.m.b.H.", "Gmbh"),
    "GmbH & Co. KG": ("GmbH & Co KG", "GmbH und Co. KG", "GmbH&Co.KG"),
    "AG": ("Aktiengesellschaft", "A.G."),
    "B.V.": ("BV", "b.v."),
    "S.A.": ("SA", "S.A"),
    "PLC": ("plc", "P.L.C."),
    "S.r.l.": ("Srl", "SRL"),
}
COUNTRIES = {
    "Ltd": ("United Kingdom", "GB", "UK"),
    "PLC": ("United Kingdom", "GB", "UK"),
    "Inc.": ("United States", "US", "USA"),
    "LLC": ("United States", "US", "USA"),
    "GmbH": ("Germany", "DE", "Deutschland"),
    "GmbH & Co. KG": ("Germany", "DE", "Deutschland"),
    "AG": ("Switzerland", "CH", "Schweiz"),
    "B.V.": ("Netherlands", "NL", "The Netherlands"),
    "S.A.": ("France", "FR", "France"),
    "S.r.l.": ("Italy", "IT", "Italia"),
}
BRANDS = _words(
    """Voltano Kemmer Brightline Nordhavn Aquita Lumora Tessaro Hartwell Pixon Grundel Omnira Zephyro Calvix Rendal
    Skanda Meridor Ustra Fennick Dorvan Elvaro"""
)
MAKES = {  # nouns of a category, what a version of one differs by, and the usual price
    "cordless drill": (("12 V", "18 V", "36 V"), 129),
    "vacuum cleaner": (("600 W", "700 W", "900 W"), 189),
    "coffee machine": (("1.2 l", "1.5 l", "1.8 l"), 349),
    "wireless headphones": (("black", "white", "blue"), 149),
    "laser printer": (("mono", "colour", "A3"), 259),
    "monitor": (('24"', '27"', '32"'), 299),
    "SSD": (("500 GB", "1 TB", "2 TB"), 99),
    "electric kettle": (("1.0 l", "1.5 l", "1.7 l"), 49),
    "washing machine": (("7 kg", "8 kg", "9 kg"), 549),
    "pressure washer": (("110 bar", "130 bar", "150 bar"), 219),
    "router": (("AX1800", "AX3000", "AX5400"), 119),
    "air purifier": (("30 m²", "45 m²", "60 m²"), 239),
    "office chair": (("grey", "black", "green"), 279),
    "bread maker": (("500 g", "750 g", "1000 g"), 109),
}
PARTS = ("carrying case", "spare battery", "filter set", "wall mount", "power adapter", "cleaning kit")
NOTES = _listed(
    """call back after 5, VIP, paid, see letter of 3 May, prefers e-mail, old system, check address, newsletter,
    no advertising, imported, 2nd reminder, do not call, new contract, from trade fair"""
)
