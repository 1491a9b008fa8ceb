// First file of the room ManagedPreferences.
