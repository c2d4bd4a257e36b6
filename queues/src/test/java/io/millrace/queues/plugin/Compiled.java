package io.millrace.queues.plugin;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/** Plugins written in Java by a test. */
public final class Compiled {
  private Compiled() {}

  /** Compiles a plugin whose method {@code run} has this body. */
  public static void into(Path folder, String name, String body) throws IOException {
    into(folder, name, body, "");
  }

  /** The same with annotations of the class. */
  static void into(Path folder, String name, String body, String annotations) throws IOException {
    int dot = name.lastIndexOf('.');
    String source =
        """
        package %s;
        %s public class %s implements io.millrace.queues.plugin.Plugin {
          public int run(io.millrace.queues.plugin.PluginTask task) throws Exception {
            %s
          }
        }
        """
            .formatted(name.substring(0, dot), annotations, name.substring(dot + 1), body);
    Files.createDirectories(folder);
    Path sources = Files.createTempDirectory("plugin");
    Path file = Files.writeString(sources.resolve(name.substring(dot + 1) + ".java"), source);
    int code =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                OutputStream.nullOutputStream(),
                null,
                "-proc:none",
                "-cp",
                System.getProperty("java.class.path"),
                "-d",
                folder.toString(),
                file.toString());
    Files.delete(file);
    Files.delete(sources);
    assertThat(code).isZero();
  }

  /** Packs classes into a jar that lists its plugins. */
  public static void jar(Path classes, Path jar, String... plugins) throws IOException {
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar));
        Stream<Path> files = Files.walk(classes)) {
      for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
        out.putNextEntry(new JarEntry(classes.relativize(file).toString()));
        Files.copy(file, out);
      }
      out.putNextEntry(new JarEntry("META-INF/services/" + Plugin.class.getName()));
      String list = "# of this test\n" + String.join("\n", List.of(plugins)) + "\n";
      out.write(list.getBytes(StandardCharsets.UTF_8));
    }
  }
}
