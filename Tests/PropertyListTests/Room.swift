// First file of PropertyListTests.
