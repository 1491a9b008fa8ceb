// First file of PolicyCompilerTests.
