// First file of the room PolicyCompiler.
