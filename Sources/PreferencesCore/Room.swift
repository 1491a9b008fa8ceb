// First file of the room PreferencesCore.
