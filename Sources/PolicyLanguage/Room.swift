// First file of the room PolicyLanguage.
