// First file of PolicyLanguageTests.
