package io.millrace.queues.plugin;

import io.millrace.processes.ProcessLauncher;
import io.millrace.queues.plugin.ProgramForm.Input;
import io.millrace.queues.plugin.ProgramForm.Output;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * Plugins of Disbatch in Perl: a class with {@code new} and {@code run} in a module below one of
 * these folders. A small program, which needs modules of Perl's core only, calls them.
 *
 * @param folders where modules are looked for, in this order, before those of the installation
 */
record PerlModules(List<Path> folders) {
  private static final Pattern NAME = Pattern.compile("[A-Za-z_]\\w*(::\\w+)*");
  private static final Pattern RUN = Pattern.compile("\\bsub\\s+run\\b");
  private static final String SUFFIX = ".pm";
  private static final long MAX_SOURCE_BYTES = 1 << 20;

  /** The program of Perl, as a shell finds it. */
  static Optional<Path> perl() {
    return ProcessLauncher.program("perl");
  }

  /** The module of this class. */
  Optional<Path> find(String plugin) {
    if (!NAME.matcher(plugin).matches()) {
      return Optional.empty();
    }
    return folders.stream()
        .map(folder -> folder.resolve(plugin.replace("::", "/") + SUFFIX))
        .filter(Files::isRegularFile)
        .findFirst();
  }

  /** The classes whose own source has a {@code sub run}, sorted. Reads every module. */
  Set<String> names() {
    Set<String> names = new TreeSet<>();
    for (Path folder : folders) {
      FileVisit.visit(
          folder,
          (file, attributes) -> {
            String path = folder.relativize(file).toString();
            if (path.endsWith(SUFFIX) && attributes.size() <= MAX_SOURCE_BYTES) {
              String name = path.substring(0, path.length() - SUFFIX.length()).replace("/", "::");
              if (NAME.matcher(name).matches() && isPlugin(file, name)) {
                names.add(name);
              }
            }
          });
    }
    return names;
  }

  private static boolean isPlugin(Path file, String name) throws IOException {
    String source = Files.readString(file, StandardCharsets.ISO_8859_1);
    return source.contains("package " + name) && RUN.matcher(source).find();
  }

  /** How a task of this plugin is run; empty if there is no such module, or no Perl. */
  Optional<ProgramForm> form(String plugin) {
    return find(plugin)
        .flatMap(_ -> command("run", plugin))
        .map(command ->
            _ -> new ProgramForm.Call(command, Map.of(), null, Input.TASK, Output.RETURNED));
  }

  private Optional<List<String>> command(String verb, String plugin) {
    return perl()
        .map(perl -> {
          List<String> command = new ArrayList<>(List.of(perl.toString()));
          folders.forEach(folder -> command.add("-I" + folder));
          command.addAll(List.of("-e", Script.TEXT, "--", verb, plugin));
          return command;
        });
  }

  /**
   * Loads the class in a process of its own.
   *
   * @return why it cannot be used; empty if it can
   */
  Optional<String> problem(String plugin, Duration patience) throws InterruptedException {
    Optional<List<String>> command = command("check", plugin);
    if (find(plugin).isEmpty() || command.isEmpty()) {
      return Optional.of(
          command.isEmpty() ? "perl is not installed" : "there is no module " + plugin);
    }
    try {
      Path said = Files.createTempFile("millrace-perl", "");
      try {
        Process process =
            new ProcessBuilder(command.get())
                .redirectErrorStream(true)
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectOutput(said.toFile())
                .start();
        try {
          if (!process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
            return Optional.of("loading it takes longer than " + patience.toSeconds() + " seconds");
          }
        } finally {
          process.destroyForcibly();
        }
        String text = new String(Files.readAllBytes(said), StandardCharsets.UTF_8).strip();
        return text.equals("usable") || text.endsWith("\nusable")
            ? Optional.empty()
            : Optional.of(text.isEmpty() ? "loading it ends the process" : text);
      } finally {
        Files.deleteIfExists(said);
      }
    } catch (IOException e) {
      return Optional.of("perl cannot be started: " + e.getMessage());
    }
  }

  /** The program that calls plugins, read when it is first needed. */
  private static final class Script {
    static final String TEXT = read();

    private static String read() {
      try (InputStream in = PerlModules.class.getResourceAsStream("plugin.pl")) {
        if (in == null) {
          throw new IllegalStateException("plugin.pl is missing from the class path");
        }
        return new String(in.readAllBytes(), StandardCharsets.UTF_8);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
