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
 * Files and folders with all that is in them, to a depth of {@value FileVisit#DEEPEST}: what tells
 * when one changes, and a copy that no change reaches. Links are followed.
 */
record ClassFiles(List<Path> entries) {
  /** Copies the list. */
  ClassFiles {
    entries = List.copyOf(entries);
  }

  /** What differs after a file has come, gone, or changed its time, size or right to be started. */
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
    // A folder gives its content in any order.
    Collections.sort(lines);
    byte[] all = String.join("\n", lines).getBytes(StandardCharsets.UTF_8);
    return UUID.nameUUIDFromBytes(all).toString();
  }

  /** Where a class loader finds their classes. */
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
   * Copies them into a new folder, each by its name.
   *
   * @throws UncheckedIOException when there is no room for them
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
