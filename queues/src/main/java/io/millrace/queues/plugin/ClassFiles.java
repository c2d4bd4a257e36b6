package io.millrace.queues.plugin;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * Files and folders with all that is in them, to a depth of {@value FileVisit#DEEPEST}. It can tell
 * when one changes, and make a copy that does not change. Links are followed.
 */
record ClassFiles(List<Path> entries) {
  /** Copies the list. */
  ClassFiles {
    entries = List.copyOf(entries);
  }

  /**
   * A mark that changes when a file is added or removed, or changes its time, size or permission to
   * be executed.
   */
  String mark() {
    List<String> lines = new ArrayList<>();
    for (Path entry : entries) {
      lines.add(entry + (Files.isExecutable(entry) ? "/x" : "/-"));
      FileVisit.visit(
          entry,
          (file, attributes) ->
              lines.add(
                  file
                      + "/"
                      + attributes.lastModifiedTime().to(TimeUnit.NANOSECONDS)
                      + "/"
                      + attributes.size()));
    }
    // A folder lists its content in any order.
    Collections.sort(lines);
    byte[] all = String.join("\n", lines).getBytes(StandardCharsets.UTF_8);
    return UUID.nameUUIDFromBytes(all).toString();
  }

  /** The URLs for a class loader. */
  List<URL> urls() {
    List<URL> urls = new ArrayList<>();
    for (Path entry : entries) {
      try {
        urls.add(entry.toUri().toURL());
      } catch (MalformedURLException e) {
        throw new UncheckedIOException(e);
      }
    }
    return urls;
  }

  /**
   * Copies them into a new folder under their names.
   *
   * @throws UncheckedIOException if there is no room for them
   */
  ClassFiles copyTo(Path folder) {
    List<Path> copies = new ArrayList<>();
    for (Path entry : entries) {
      Path copy = folder.resolve(entry.getFileName().toString());
      FileVisit.visit(
          entry, (file, _) -> copy(file, copy.resolve(entry.relativize(file).toString())));
      copies.add(copy);
    }
    return new ClassFiles(copies);
  }

  private static void copy(Path file, Path copy) throws IOException {
    Files.createDirectories(copy.getParent());
    Files.copy(file, copy);
  }
}
