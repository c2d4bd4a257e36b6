package io.millrace.queues.plugin;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.function.Consumer;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What is in class files, those of jars too. What cannot be read is left out. */
final class ClassContents {
  private static final Logger LOG = LoggerFactory.getLogger(ClassContents.class);
  private static final String CLASS = ".class";

  private ClassContents() {}

  /** Gives the content of every class file. */
  static void read(ClassFiles files, Consumer<byte[]> reader) {
    for (Path entry : files.entries()) {
      if (Files.isDirectory(entry)) {
        FileVisit.visit(
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
}
