package io.millrace.cli.packaging;

import io.millrace.cli.remote.CommandGroup;
import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import java.nio.file.Path;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code millrace package}: makes packages to install. */
@Command(
    name = "package",
    description = "Makes packages to install, from what a checkout has built.",
    addMethodSubcommands = false)
public final class PackageCommands extends CommandGroup {
  private final Supplier<CommandLine> program;

  /**
   * The commands that package this program.
   *
   * @param program makes the program with all its commands, for completion and manual pages
   */
  public PackageCommands(Supplier<CommandLine> program) {
    this.program = program;
  }

  /** The group with its commands. */
  public CommandLine group() {
    return with("deb");
  }

  @Command(
      name = "deb",
      description = {
        "Makes a Debian package of this build, with a Java runtime of its own, services of systemd,"
            + " manual pages and completion. Needs dpkg-deb (Debian: dpkg) and the jlink of the JDK"
            + " that runs it. See docs/operations.md.",
        "Prints the file that was made."
      })
  int deb(
      @Option(
              names = {"-o", "--out"},
              paramLabel = "DIR",
              description = "The folder for the package, created if absent. Default: target")
          @Nullable Path out,
      @Option(
              names = "--fast",
              description =
                  "Does not compress the package and leaves out the class caches: for trials. The"
                      + " package is twice as large, and starts more slowly.")
          boolean fast) {
    DebianPackage made = new DebianPackage(checkout(), program, fast);
    if (!fast) {
      terminal().say("class caches and compression take minutes; --fast leaves them out");
    }
    out().println(made.write(out == null ? Path.of("target") : out));
    out().flush();
    return ExitCode.OK;
  }

  /** The checkout that this program was built in. */
  private static Path checkout() {
    String launcher = System.getProperty("millrace.launcher");
    Path root = launcher == null ? null : Path.of(launcher).getParent();
    if (root == null || !DebianPackage.canBeMadeOf(root)) {
      throw new CommandException(
          ExitCode.FAILURE,
          "packages are made in a checkout: start its ./millrace (this program was started by "
              + (launcher == null ? "no launcher" : launcher)
              + ")");
    }
    return root;
  }
}
