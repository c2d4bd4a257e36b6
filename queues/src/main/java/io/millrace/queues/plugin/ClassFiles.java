package io.millrace.queues.plugin;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Files and folders with all that is in them, to a depth of {@value #DEEPEST}: what tells when one
 * changes, and a copy that no change reaches. Links are followed.
 */
record ClassFiles(List<Path> entries) {
  private static final Logger LOG = LoggerFactory.getLogger(ClassFiles.class);
  private static final int DEEPEST = 64;
  private static final String CLASS = ".class";

  /** Copies the list. */
  ClassFiles {
    entries = List.copyOf(entries);
  }

  /** What differs after a file has come, gone, or changed its time, size or right to be started. */
  String mark() {
    List<String> lines = new ArrayList<>();
    for (Path entry : entries) {
      lines.add(entry + (Files.isExecutable(entry) ? "/x" : "/-"));
      visit(
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
      visit(entry, (file, _) -> copy(file, copy.resolve(entry.relativize(file).toString())));
      copies.add(copy);
    }
    return new ClassFiles(copies);
  }

  private static void copy(Path file, Path copy) throws IOException {
    Files.createDirectories(copy.getParent());
    Files.copy(file, copy);
  }

  private static void see(Visitor visitor, Path file, BasicFileAttributes attributes)
      throws IOException {
    try {
      visitor.see(file, attributes);
    } catch (NoSuchFileException | AccessDeniedException e) {
      // Whoever needs it is told that it is not there; others are not disturbed.
      LOG.warn("the file {} cannot be read: {}", file, e.toString());
    }
  }

  /** Gives the content of every class file, those of jars too. What cannot be read is left out. */
  void readClasses(Consumer<byte[]> reader) {
    for (Path entry : entries) {
      if (Files.isDirectory(entry)) {
        visit(
            entry,
            (file, _) -> {
              if (file.toString().endsWith(CLASS)) {
                readFile(file, reader);
              }
            });
      } else {
        readJar(entry, reader);
      }
    }
  }

  private static void readFile(Path file, Consumer<byte[]> reader) {
    byte[] content;
    try {
      content = Files.readAllBytes(file);
    } catch (IOException e) {
      LOG.warn("the class {} cannot be read: {}", file, e.toString());
      return;
    }
    reader.accept(content);
  }

  private static void readJar(Path jar, Consumer<byte[]> reader) {
    try (JarFile file = new JarFile(jar.toFile(), false)) {
      for (JarEntry entry : Collections.list(file.entries())) {
        if (entry.getName().endsWith(CLASS)) {
          try (InputStream content = file.getInputStream(entry)) {
            reader.accept(content.readAllBytes());
          }
        }
      }
    } catch (IOException e) {
      LOG.warn("the jar {} cannot be read: {}", jar, e.toString());
    }
  }

  /** Removes a folder with all that is in it; what cannot be removed stays. */
  static void remove(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : (Iterable<Path>) files.sorted(Comparator.reverseOrder())::iterator) {
        Files.delete(file);
      }
    } catch (IOException | UncheckedIOException e) {
      LOG.debug("the folder {} stays", folder, e);
    }
  }

  /** Is shown each regular file. */
  private interface Visitor {
    void see(Path file, BasicFileAttributes attributes) throws IOException;
  }

  private static void visit(Path entry, Visitor visitor) {
    try {
      Files.walkFileTree(
          entry,
          EnumSet.of(FileVisitOption.FOLLOW_LINKS),
          DEEPEST,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                throws IOException {
              if (attributes.isRegularFile()) {
                see(visitor, file, attributes);
              }
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException e) {
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException e) {
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
