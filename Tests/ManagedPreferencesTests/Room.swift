// First file of ManagedPreferencesTests.
