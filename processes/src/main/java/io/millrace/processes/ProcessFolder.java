package io.millrace.processes;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The files of one process; {@code package-info} lists them. */
record ProcessFolder(Path path) {
  private static final Logger LOG = LoggerFactory.getLogger(ProcessFolder.class);
  private static final String STDIN = "stdin";
  private static final String IDENTITY = "identity";
  private static final String CLAIM = "claim";
  private static final String COMPLETE = "complete";

  /** The line of the record with the outputs that are kept, from 0; the exit code follows it. */
  private static final int OUTPUT = 2;

  private static final int FIRST_BYTES = 8_192;

  /**
   * The processes that the file {@code identity} names.
   *
   * @param output what a {@link ProcessSpawner} keeps of the output; null if the files tell
   */
  record Identities(ProcessIdentity program, ProcessIdentity supervisor, @Nullable Output output) {}

  /** Takes the folder for a process of a launcher; only one of several callers can take it. */
  void prepare(Output output, InputStream stdin) {
    boolean _ = feed(stdin, true);
    try {
      PrivateFiles.write(complaintsFile(), new byte[0]);
      for (Output.Kind kind : kinds(output)) {
        PrivateFiles.createFile(path.resolve(kind.fileName()));
      }
    } catch (IOException e) {
      clear();
      throw new CannotStartException("the files in " + path + " cannot be made: " + e, e);
    }
  }

  /**
   * Creates the folder for a {@link ProcessSpawner}, with the standard input in it if there is any.
   *
   * @return whether there is
   */
  boolean feed(InputStream stdin) {
    return feed(stdin, false);
  }

  private boolean feed(InputStream stdin, boolean evenNothing) {
    Path file = path.resolve(STDIN);
    try {
      PrivateFiles.createFolder(path);
      byte[] first = stdin.readNBytes(FIRST_BYTES);
      checkFree();
      if (first.length == 0 && !evenNothing) {
        return false;
      }
      PrivateFiles.createFile(file);
      try (var out = Files.newOutputStream(file, StandardOpenOption.WRITE)) {
        out.write(first);
        stdin.transferTo(out);
      } catch (IOException e) {
        delete(STDIN);
        throw e;
      }
      return true;
    } catch (FileAlreadyExistsException e) {
      throw new CannotStartException("the folder " + path + " is that of another process", e);
    } catch (IOException e) {
      throw new CannotStartException("the folder " + path + " cannot be made: " + e, e);
    }
  }

  /** A process of a launcher always has one of these files, one of a spawner the other. */
  private void checkFree() throws FileAlreadyExistsException {
    for (String name : List.of(STDIN, IDENTITY)) {
      if (Files.exists(path.resolve(name))) {
        throw new FileAlreadyExistsException(path.resolve(name).toString());
      }
    }
  }

  /** The outputs that are kept. */
  static List<Output.Kind> kinds(Output output) {
    return switch (output) {
      case SEPARATE -> List.of(Output.Kind.STDOUT, Output.Kind.STDERR);
      case MIXED -> List.of(Output.Kind.MIXED);
      case ALL -> List.of(Output.Kind.values());
    };
  }

  /** Removes the files of a process that was not started, so that the folder can be used again. */
  void clear() {
    for (Output.Kind kind : Output.Kind.values()) {
      delete(kind.fileName());
    }
    removePipes();
    delete(CLAIM);
    delete("supervisor");
    delete(IDENTITY);
    delete("exit");
    delete(STDIN);
  }

  /** A pipe needs no name once both of its ends are open. */
  void removePipes() {
    delete("stdout.pipe");
    delete("stderr.pipe");
  }

  private void delete(String name) {
    try {
      Files.deleteIfExists(path.resolve(name));
    } catch (IOException e) {
      LOG.warn("{} of a process stays in {}: {}", name, path, e.toString());
    }
  }

  Path complaintsFile() {
    return path.resolve("supervisor");
  }

  /** The messages of the supervisor; empty if there are none. */
  String complaints() {
    StringBuilder text = new StringBuilder();
    for (String name : List.of("supervisor", "stderr", "mixed")) {
      @Nullable String content = content(name);
      if (content != null && !content.isBlank()) {
        text.append(": ").append(content.strip());
      }
    }
    return text.toString();
  }

  /**
   * Makes sure that a program that a {@link ProcessSpawner} was to start here never starts, unless
   * it has.
   *
   * @return whether it never does
   */
  boolean forbid() {
    Path claim = path.resolve(CLAIM);
    try {
      // A folder where the program's own side makes a file: one of them comes first.
      Files.createDirectory(claim);
      return true;
    } catch (FileAlreadyExistsException e) {
      return Files.isDirectory(claim);
    } catch (NoSuchFileException e) {
      return true;
    } catch (IOException e) {
      throw new ProcessException("the start in " + path + " cannot be taken back: " + e, e);
    }
  }

  /** Whether a {@link ProcessSpawner} runs or has run a program here. */
  boolean isClaimed() {
    return Files.isRegularFile(path.resolve(CLAIM));
  }

  /** Whether all output of a program of a {@link ProcessSpawner} is stored. */
  boolean isComplete() {
    return record().lines().skip(OUTPUT + 2).anyMatch(COMPLETE::equals);
  }

  /** The process that runs or ran here; empty if none began, and then none ever will. */
  Optional<Identities> began() {
    Optional<Identities> found = identities();
    boolean byLauncher = found.isPresent() && found.get().output() == null;
    // What a spawner's program writes before its claim says nothing yet.
    return byLauncher ? found : forbid() ? Optional.empty() : identities();
  }

  /** The recorded process; empty if there is no complete record (yet). */
  Optional<Identities> identities() {
    String text = record();
    if (!text.endsWith("\n")) {
      return Optional.empty();
    }
    List<String> lines = text.lines().toList();
    if (lines.size() < OUTPUT) {
      throw new ProcessException("the file identity in " + path + " is damaged");
    }
    try {
      return Optional.of(
          new Identities(
              ProcessIdentity.parse(lines.get(0)),
              ProcessIdentity.parse(lines.get(1)),
              lines.size() == OUTPUT ? null : Output.valueOf(lines.get(OUTPUT))));
    } catch (IllegalArgumentException e) {
      throw new ProcessException("the file identity in " + path + " is damaged: " + e, e);
    }
  }

  /** The recorded end; {@link ExitStatus.Unknown} if there is no complete record. */
  ExitStatus exitStatus() {
    @Nullable String text = content("exit");
    String word = text == null ? recordedExit() : text.endsWith("\n") ? text.strip() : "";
    if (word.isEmpty()) {
      return new ExitStatus.Unknown();
    }
    if (word.equals("never")) {
      return new ExitStatus.NeverStarted();
    }
    try {
      return new ExitStatus.Exited(Integer.parseInt(word));
    } catch (NumberFormatException e) {
      throw new ProcessException("the file exit in " + path + " is damaged: " + word, e);
    }
  }

  /** The end that a spawner has recorded; empty if there is no complete record. */
  private String recordedExit() {
    String text = record();
    return text.endsWith("\n") ? text.lines().skip(OUTPUT + 1).findFirst().orElse("") : "";
  }

  private String record() {
    @Nullable String text = content(IDENTITY);
    return text == null ? "" : text;
  }

  boolean keeps(Output.Kind kind) {
    return Files.exists(path.resolve(kind.fileName()));
  }

  private @Nullable String content(String name) {
    try {
      return Files.readString(path.resolve(name), StandardCharsets.ISO_8859_1);
    } catch (NoSuchFileException | NotDirectoryException e) {
      return null;
    } catch (IOException e) {
      throw new ProcessException("the file " + name + " in " + path + " cannot be read: " + e, e);
    }
  }
}
