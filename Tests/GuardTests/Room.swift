// First file of GuardTests.
