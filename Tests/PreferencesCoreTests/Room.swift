// First file of PreferencesCoreTests.
