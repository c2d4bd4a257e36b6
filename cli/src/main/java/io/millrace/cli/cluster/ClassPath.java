package io.millrace.cli.cluster;

import io.millrace.cli.terminal.UsageException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;

/** Users' own classes. */
final class ClassPath {
  private ClassPath() {}

  /**
   * A loader of the classes in jars and folders, on top of Millrace's own.
   *
   * @throws UsageException naming a path that is not there
   */
  static URLClassLoader open(List<String> paths) {
    return new URLClassLoader(
        "users",
        paths.stream().map(ClassPath::url).toArray(URL[]::new),
        ClassPath.class.getClassLoader());
  }

  private static URL url(String text) {
    try {
      Path path = Path.of(text);
      if (text.isEmpty() || !Files.isReadable(path)) {
        throw new UsageException("--classpath: there is no '" + text + "' that can be read");
      }
      return path.toAbsolutePath().toUri().toURL();
    } catch (InvalidPathException | MalformedURLException e) {
      throw new UsageException("--classpath: '" + text + "' is no path", e);
    }
  }
}
