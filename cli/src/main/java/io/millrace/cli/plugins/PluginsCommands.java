package io.millrace.cli.plugins;

import io.millrace.cli.remote.CommandGroup;
import io.millrace.cli.terminal.ExitCode;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code millrace plugins}: commands for those who write plugins. */
@Command(
    name = "plugins",
    description = "Writes and checks plugins of queues, without a server.",
    addMethodSubcommands = false)
public final class PluginsCommands extends CommandGroup {
  /** The group with its commands. */
  public CommandLine group() {
    return with("create", "check");
  }

  @Command(
      name = "new",
      description = {
        "Writes a Maven project of a plugin in Java, with a test.",
        "Example: millrace plugins new my.Greet --directory greet"
      })
  int create(
      @Parameters(paramLabel = "NAME", description = "The class, with its package, as in my.Greet.")
          String name,
      @Option(
              names = {"-d", "--directory"},
              paramLabel = "DIR",
              description =
                  "The folder of the project, new or empty. Default: the name of the class")
          @Nullable Path directory) {
    Path folder = directory == null ? NewPlugin.folder(name) : directory;
    NewPlugin.write(name, folder);
    out().println("wrote the project of plugin " + name + " to " + folder);
    out().println("  mvn --file " + folder + " test");
    out()
        .println(
            "  millrace plugins check "
                + name
                + " --classpath "
                + folder.resolve("target/classes"));
    return ExitCode.OK;
  }

  @Command(
      name = "check",
      description = {
        "Loads a plugin as a task runner does, shows the params that it declares, and names what is"
            + " wrong with it. With --params it also runs it once, in a folder that is removed.",
        "Example: millrace plugins check my.Greet --classpath target/classes --params"
            + " '{\"who\": \"ann\"}'",
        "Example: millrace plugins check plugins/resize --params '{\"width\": 80}'"
      })
  int check(
      @Parameters(
              paramLabel = "FILE|CLASS",
              description = "An executable file, or the name of a class in Java or Perl.")
          String plugin,
      @Option(
              names = {"-c", "--classpath"},
              split = ":",
              paramLabel = "PATH",
              description = "Jars and folders with the class, separated by colons.")
          @Nullable List<Path> classPath,
      @Option(
              names = "--plugins",
              paramLabel = "DIR",
              description = "The plugin folder of a node with the class.")
          @Nullable Path folder,
      @Option(
              names = "--perl-lib",
              paramLabel = "DIR",
              description = "A folder with modules of Perl; may be repeated.")
          @Nullable List<Path> perl,
      @Option(
              names = "--params",
              paramLabel = "JSON",
              description = "Runs the plugin once with these params.")
          @Nullable String params) {
    return new PluginCheck(
            terminal(),
            plugin,
            classPath == null ? List.of() : classPath,
            folder,
            perl == null ? List.of() : perl)
        .run(params);
  }
}
