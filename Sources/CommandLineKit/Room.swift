// First file of the room CommandLineKit.
