import CommandSandbox
import LinuxFiles
import Testing

/// A graphical program, under an X server without a screen.
@Suite(.enabled(if: ContainedRuns.isAvailable && ContainedRuns.has("Xvfb", "xterm", "xauth", "xwininfo")))
struct RunDisplayTests {
  /// The server lets in who has its key, and listens on no abstract socket: what the program has it got from `run`.
  @Test func anXProgramShowsItsWindow() throws {
    let sandbox = try RunSandbox()
    let result = sandbox.outside(
      """
      key=0123456789abcdef0123456789abcdef
      export XAUTHORITY=$HOME/authority
      # A server takes the keys of every display; its own number is not known yet.
      xauth -q add :999 . $key 2>/dev/null
      Xvfb -displayfd 5 -auth $HOME/authority -nolisten local -nolisten tcp 5>display 2>server.log & server=$!
      wait_for display; while ! test -s display; do sleep 0.02; done
      export DISPLAY=:$(cat display)
      xauth -q add $DISPLAY . $key 2>/dev/null
      $RUN -- xterm -T 'contained window' -e sh -c 'echo shown > ~/shown; while ! test -e ~/end; do sleep 0.05; done' &
      home='\(sandbox.containerHome())'
      wait_for $home/shown || cat server.log
      i=0; until xwininfo -root -tree | grep -o '"contained window"'; do i=$((i + 1)); test $i -lt 600 || break; sleep 0.1; done
      touch $home/end; wait $!; echo $?; kill $server
      """)
    #expect(result.output == "\"contained window\"\n0\n", "\(result.errors)")
  }
}
