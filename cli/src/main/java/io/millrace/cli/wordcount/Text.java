package io.millrace.cli.wordcount;

import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The text to count, in one file that can be read from any place. */
final class Text {
  private static final Path STANDARD_INPUT = Path.of("-");

  private Text() {}

  /**
   * The file given; or a copy of all of them, one after the other, since a word may begin in one
   * and end in the next; or without any the program's own text.
   *
   * @param folder where a copy goes
   */
  static Path of(List<Path> files, Path folder, InputStream standardInput) throws IOException {
    for (Path file : files) {
      check(file);
    }
    if (files.size() == 1 && Files.isRegularFile(files.getFirst())) {
      return files.getFirst().toAbsolutePath();
    }
    Path copy = folder.resolve("text");
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(copy))) {
      if (files.isEmpty()) {
        try (InputStream own = own()) {
          own.transferTo(out);
        }
      }
      for (Path file : files) {
        if (file.equals(STANDARD_INPUT)) {
          standardInput.transferTo(out);
        } else {
          Files.copy(file, out);
        }
      }
    }
    return copy;
  }

  private static void check(Path file) {
    if (file.equals(STANDARD_INPUT)) {
      return;
    }
    if (Files.notExists(file)) {
      throw new CommandException(ExitCode.FAILURE, "there is no file " + file);
    }
    if (Files.isDirectory(file)) {
      throw new CommandException(ExitCode.FAILURE, file + " is a folder");
    }
    if (!Files.isReadable(file)) {
      throw new CommandException(ExitCode.FAILURE, "cannot read " + file);
    }
  }

  private static InputStream own() {
    InputStream text = Text.class.getResourceAsStream("millrace.txt");
    if (text == null) {
      throw new IllegalStateException("the text that belongs to the program is not there");
    }
    return text;
  }
}
