// First file of CommandLineKitTests.
