package io.millrace.cli.plugins;

import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.processes.FileTree;
import io.millrace.queues.plugin.Plugin;
import io.millrace.queues.plugin.PluginDeclaration;
import io.millrace.queues.plugin.PluginDeclaration.Param;
import io.millrace.queues.plugin.PluginException;
import io.millrace.queues.plugin.PluginFolder;
import io.millrace.queues.plugin.PluginTrial;
import io.millrace.queues.plugin.Plugins;
import io.millrace.queues.plugin.ProgramForm;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Loads a plugin as a task runner does, and names what is wrong with it.
 *
 * @param name an executable file, or the name of a class
 * @param classPath jars and folders with the class; none if it is in {@code plugins}
 * @param plugins a plugin folder; null for none
 * @param perl folders with modules of Perl
 */
record PluginCheck(
    Terminal terminal, String name, List<Path> classPath, @Nullable Path plugins, List<Path> perl) {
  private static final Duration PERL_PATIENCE = Duration.ofSeconds(30);
  private static final String TASK = "0".repeat(23) + "1";
  private static final String QUEUE = "0".repeat(23) + "2";

  /**
   * Checks the plugin.
   *
   * @param params with which it is run once; null to load it only
   * @return the exit code: {@link ExitCode#UNSUCCESSFUL} if the run failed
   * @throws CommandException naming what is wrong with the plugin
   */
  int run(@Nullable String params) {
    try {
      Path scratch = Files.createTempDirectory("millrace-plugin");
      try {
        return isClass() ? checkClass(scratch, params) : checkFile(scratch, params);
      } finally {
        FileTree.remove(scratch);
      }
    } catch (IOException e) {
      throw new CommandException(ExitCode.FAILURE, "the plugin cannot be checked: " + e, e);
    }
  }

  private boolean isClass() {
    return !classPath.isEmpty() || plugins != null || !perl.isEmpty();
  }

  private static CommandException wrong(String message) {
    return new CommandException(ExitCode.FAILURE, message);
  }

  private int checkFile(Path scratch, @Nullable String params) throws IOException {
    Path file = Path.of(name);
    if (!Files.exists(file)) {
      throw new CommandException(
          ExitCode.NOTHING,
          "there is no file " + name + "; for a class, say where it is: --classpath or --plugins");
    }
    String plugin = file.getFileName().toString();
    if (!PluginFolder.isName(plugin)) {
      throw wrong(
          "\"" + plugin + "\" is no name of a plugin: it has the characters A-Z a-z 0-9 _ : . -");
    }
    if (PluginFolder.BUILT_IN.contains(plugin)) {
      throw wrong("the name " + plugin + " belongs to a plugin that is built in");
    }
    if (!Files.isRegularFile(file)) {
      throw wrong(name + " is a folder; for a class, name the class, and use --classpath");
    }
    if (!Files.isExecutable(file)) {
      throw wrong(name + " is not executable: chmod +x " + name);
    }
    Path declaration = file.resolveSibling(plugin + PluginFolder.DECLARATION);
    Optional<PluginDeclaration> declared = Optional.empty();
    if (Files.exists(declaration)) {
      try {
        declared = Optional.of(PluginFolder.readDeclaration(declaration));
      } catch (IllegalArgumentException e) {
        throw wrong("the declaration " + declaration + " is wrong: " + e.getMessage());
      }
    }
    show(plugin, declared);
    if (params == null) {
      return ExitCode.OK;
    }
    ObjectNode input = checked(plugin, params, declared);
    return runProgram(ProgramForm.executable(file.toAbsolutePath()), plugin, input, scratch);
  }

  private int runProgram(ProgramForm form, String plugin, ObjectNode params, Path scratch)
      throws IOException {
    ProgramForm.Call call;
    try {
      call = form.call(params);
    } catch (PluginException e) {
      throw new CommandException(ExitCode.FAILURE, String.valueOf(e.getMessage()), e);
    }
    Path statusFile = scratch.resolve("status");
    Path stdout = scratch.resolve("stdout");
    Path stderr = scratch.resolve("stderr");
    Path folder = Files.createDirectory(scratch.resolve("run"));
    ObjectNode given =
        call.input() == ProgramForm.Input.TASK
            ? ProgramForm.document(TASK, QUEUE, "trial", params)
            : params;
    Path input = Files.writeString(scratch.resolve("params"), given.toString());
    ProcessBuilder builder =
        new ProcessBuilder(call.command())
            .directory(folder.toFile())
            .redirectInput(input.toFile())
            .redirectOutput(stdout.toFile())
            .redirectError(stderr.toFile());
    builder.environment().put("MILLRACE_STATUS_FILE", statusFile.toString());
    builder.environment().put("MILLRACE_RETURNED_STDOUT", scratch.resolve("out").toString());
    builder.environment().put("MILLRACE_RETURNED_STDERR", scratch.resolve("err").toString());
    builder.environment().put("MILLRACE_PLUGIN", plugin);
    builder.environment().put("MILLRACE_NODE", "trial");
    builder.environment().put("MILLRACE_TASK_ID", TASK);
    builder.environment().put("MILLRACE_QUEUE", QUEUE);
    builder.environment().put("MILLRACE_TOKEN", "1");
    int code;
    try {
      code = builder.start().waitFor();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandException(ExitCode.FAILURE, "interrupted", e);
    } catch (IOException e) {
      throw new CommandException(
          ExitCode.FAILURE, plugin + " cannot be started: " + e.getMessage(), e);
    }
    printOutput(text(scratch.resolve("out"), stdout));
    terminal.err().print(text(scratch.resolve("err"), stderr));
    String status = Files.exists(statusFile) ? Files.readString(statusFile).strip() : "";
    boolean succeeded = code == 0 && call.output() != ProgramForm.Output.RETURNED;
    return ended(status.isEmpty() ? (succeeded ? "1" : "2") : status);
  }

  private static String text(Path returned, Path written) throws IOException {
    byte[] bytes = Files.readAllBytes(Files.exists(returned) ? returned : written);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private int checkClass(Path scratch, @Nullable String params) throws IOException {
    PluginFolder folder = folder(scratch);
    String type = name.replace("::", ".");
    Set<String> found = new TreeSet<>(folder.names());
    found.removeAll(PluginFolder.BUILT_IN);
    if (!folder.has(name)) {
      throw new CommandException(
          ExitCode.NOTHING,
          "there is no class "
              + type
              + " there; "
              + (found.isEmpty() ? "no plugin was found" : "found: " + String.join(", ", found)));
    }
    if (folder.isPerl(name)) {
      return checkPerl(folder, scratch, params);
    }
    try (Plugins loaded = new Plugins(scratch.resolve("copies"))) {
      if (!(loaded.find(folder, name) instanceof Plugins.InProcess(Plugin plugin))) {
        throw wrong(name + " is an executable of that folder; name the file instead");
      }
      if (!found.contains(type)) {
        throw wrong(
            "nodes do not announce "
                + type
                + ", since it is not public or does not implement Plugin itself; list it in"
                + " META-INF/services/"
                + Plugin.class.getName());
      }
      Optional<PluginDeclaration> declared;
      try {
        declared = PluginDeclaration.of(plugin.getClass());
      } catch (IllegalArgumentException e) {
        throw wrong("the declaration of " + type + " is wrong: " + e.getMessage());
      }
      show(type, declared);
      if (params == null) {
        return ExitCode.OK;
      }
      var _ = checked(type, params, declared);
      PluginTrial.Outcome outcome =
          PluginTrial.run(plugin, params, Files.createDirectory(scratch.resolve("run")));
      printOutput(outcome.stdout());
      terminal.err().print(outcome.stderr());
      return ended(Integer.toString(outcome.status()));
    } catch (PluginException e) {
      throw new CommandException(ExitCode.FAILURE, String.valueOf(e.getMessage()), e);
    }
  }

  private int checkPerl(PluginFolder folder, Path scratch, @Nullable String params)
      throws IOException {
    try (Plugins loaded = new Plugins(scratch.resolve("copies"))) {
      Optional<String> problem = folder.perlProblem(name, PERL_PATIENCE);
      if (problem.isPresent()) {
        throw wrong("the Perl plugin " + name + " cannot be used: " + problem.get());
      }
      show(name, Optional.empty());
      return params != null && loaded.find(folder, name) instanceof Plugins.Program(var form)
          ? runProgram(form, name, checked(name, params, Optional.empty()), scratch)
          : ExitCode.OK;
    } catch (PluginException e) {
      throw new CommandException(ExitCode.FAILURE, String.valueOf(e.getMessage()), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandException(ExitCode.FAILURE, "interrupted", e);
    }
  }

  /** The plugin folder, or one with links to the entries of the class path. */
  private PluginFolder folder(Path scratch) throws IOException {
    if (plugins != null || classPath.isEmpty()) {
      if (!classPath.isEmpty()) {
        throw new UsageException("--classpath and --plugins exclude each other");
      }
      if (plugins != null && !Files.isDirectory(plugins)) {
        throw new CommandException(ExitCode.NOTHING, "there is no folder " + plugins);
      }
      return new PluginFolder(plugins, perl);
    }
    Path folder = Files.createDirectory(scratch.resolve("plugins"));
    for (int i = 0; i < classPath.size(); i++) {
      Path entry = classPath.get(i).toAbsolutePath().normalize();
      if (!Files.exists(entry)) {
        throw new CommandException(ExitCode.NOTHING, "there is no " + classPath.get(i));
      }
      Files.createSymbolicLink(folder.resolve(i + "-" + entry.getFileName()), entry);
    }
    return new PluginFolder(folder, perl);
  }

  private static ObjectNode checked(
      String plugin, String params, Optional<PluginDeclaration> declared) {
    ObjectNode given;
    try {
      given = PluginTrial.params(params);
    } catch (IllegalArgumentException e) {
      throw new UsageException("--params: " + e.getMessage());
    }
    declared
        .flatMap(it -> it.problem(plugin, given, _ -> false))
        .ifPresent(problem -> {
          throw new CommandException(ExitCode.REFUSED, problem);
        });
    return given;
  }

  private void show(String plugin, Optional<PluginDeclaration> declared) {
    if (declared.isEmpty()) {
      terminal.out().println(plugin + " declares no params, so it takes any");
      return;
    }
    List<Param> params = declared.get().params();
    terminal.out().println(plugin + (params.isEmpty() ? " takes no params" : " takes:"));
    for (Param param : params) {
      terminal
          .out()
          .println(
              "  "
                  + param.name()
                  + "  "
                  + param.type().word()
                  + (param.required() ? ", required" : "")
                  + (param.description().isEmpty() ? "" : "  " + param.description()));
    }
  }

  /** Prints output, and ends its last line. */
  private void printOutput(String output) {
    terminal.out().print(output);
    if (!output.isEmpty() && !output.endsWith("\n")) {
      terminal.out().println();
    }
  }

  private int ended(String status) {
    terminal.out().println("status " + status);
    return status.equals("2") ? ExitCode.UNSUCCESSFUL : ExitCode.OK;
  }
}
