package io.millrace.cli.plugins;

import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.UsageException;
import io.millrace.queues.plugin.Plugin;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A Maven project of a plugin in Java, with a test. */
final class NewPlugin {
  private static final Pattern NAME = Pattern.compile("([a-z_][a-z0-9_]*\\.)+[A-Z][A-Za-z0-9_]*");

  private NewPlugin() {}

  private static String pom(String group, String artifact, String version) {
    return """
    <?xml version="1.0" encoding="UTF-8"?>
    <project xmlns="http://maven.apache.org/POM/4.0.0"
             xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
             xsi:schemaLocation="http://maven.apache.org/POM/4.0.0 http://maven.apache.org/xsd/maven-4.0.0.xsd">
      <modelVersion>4.0.0</modelVersion>
      <groupId>%1$s</groupId>
      <artifactId>%2$s</artifactId>
      <version>1</version>

      <properties>
        <maven.compiler.release>25</maven.compiler.release>
        <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
      </properties>

      <dependencies>
        <dependency>
          <groupId>io.millrace</groupId>
          <artifactId>millrace-queues</artifactId>
          <version>%3$s</version>
          <!-- Runners have it already. -->
          <scope>provided</scope>
        </dependency>
        <dependency>
          <groupId>org.junit.jupiter</groupId>
          <artifactId>junit-jupiter</artifactId>
          <version>6.1.3</version>
          <scope>test</scope>
        </dependency>
      </dependencies>

      <build>
        <plugins>
          <plugin>
            <artifactId>maven-surefire-plugin</artifactId>
            <version>3.5.4</version>
          </plugin>
        </plugins>
      </build>
    </project>
    """
        .formatted(group, artifact, version);
  }

  private static String plugin(String inPackage, String name) {
    return """
    package %1$s;

    import io.millrace.queues.plugin.Plugin;
    import io.millrace.queues.plugin.PluginDeclaration.ParamType;
    import io.millrace.queues.plugin.PluginParam;
    import io.millrace.queues.plugin.PluginTask;

    /** Greets somebody. Params that are not declared here are refused at submission. */
    @PluginParam(name = "who", type = ParamType.STRING, required = true, description = "whom to greet")
    @PluginParam(name = "times", type = ParamType.INTEGER, description = "how often; once by default")
    public final class %2$s implements Plugin {
      @Override
      public int run(PluginTask task) {
        int times = task.params().path("times").asInt(1);
        for (int i = 0; i < times; i++) {
          if (task.isCancelled()) {
            return 2;
          }
          System.out.println("hello " + task.params().path("who").asString());
        }
        return 1;
      }
    }
    """
        .formatted(inPackage, name);
  }

  private static String test(String inPackage, String name) {
    return """
    package %1$s;

    import static org.junit.jupiter.api.Assertions.assertEquals;
    import static org.junit.jupiter.api.Assertions.assertThrows;

    import io.millrace.queues.plugin.PluginTrial;
    import java.nio.file.Path;
    import org.junit.jupiter.api.Test;
    import org.junit.jupiter.api.io.TempDir;

    class %2$sTest {
      @TempDir Path folder;

      private PluginTrial.Outcome run(String params) {
        return PluginTrial.run(new %2$s(), params, folder);
      }

      @Test
      void it_greets_as_often_as_it_should() {
        PluginTrial.Outcome outcome = run("{\\"who\\": \\"ann\\", \\"times\\": 2}");
        assertEquals(1, outcome.status());
        assertEquals("hello ann\\nhello ann\\n".replace("\\n", System.lineSeparator()), outcome.stdout());
      }

      @Test
      void params_that_it_does_not_declare_are_refused() {
        assertThrows(IllegalArgumentException.class, () -> run("{\\"whom\\": \\"ann\\"}"));
      }
    }
    """
        .formatted(inPackage, name);
  }

  /** The folder of a project, if none is given. */
  static Path folder(String name) {
    return Path.of(simpleName(name));
  }

  private static String simpleName(String name) {
    return name.substring(name.lastIndexOf('.') + 1);
  }

  /**
   * Writes a project.
   *
   * @param name the name of the class, with its package
   * @throws UsageException if it is no such name
   * @throws CommandException if the folder is not empty, or cannot be written
   */
  static void write(String name, Path folder) {
    if (!NAME.matcher(name).matches()) {
      throw new UsageException(
          "the name of a plugin is that of a class in a package, as in my.Greet, not " + name);
    }
    String simple = simpleName(name);
    String inPackage = name.substring(0, name.lastIndexOf('.'));
    String version = Plugin.class.getPackage().getImplementationVersion();
    Path classes = Path.of(inPackage.replace('.', '/'));
    Map<Path, String> files = new LinkedHashMap<>();
    files.put(
        Path.of("pom.xml"),
        pom(
            inPackage,
            simple.toLowerCase(Locale.ROOT),
            version == null ? "0.1.0-SNAPSHOT" : version));
    files.put(
        Path.of("src/main/java").resolve(classes).resolve(simple + ".java"),
        plugin(inPackage, simple));
    files.put(
        Path.of("src/test/java").resolve(classes).resolve(simple + "Test.java"),
        test(inPackage, simple));
    try {
      if (Files.exists(folder)) {
        if (!Files.isDirectory(folder)) {
          throw new CommandException(ExitCode.FAILURE, folder + " is a file");
        }
        try (Stream<Path> entries = Files.list(folder)) {
          if (entries.findAny().isPresent()) {
            throw new CommandException(ExitCode.FAILURE, "the folder " + folder + " is not empty");
          }
        }
      }
      for (Map.Entry<Path, String> file : files.entrySet()) {
        Path target = folder.resolve(file.getKey());
        Files.createDirectories(target.toAbsolutePath().getParent());
        Files.writeString(target, file.getValue());
      }
    } catch (IOException e) {
      throw new CommandException(
          ExitCode.FAILURE, "the project cannot be written to " + folder + ": " + e, e);
    }
  }
}
