package io.millrace.cli.plugins;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.cli.Shell;
import io.millrace.processes.ProcessLauncher;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Plugins are written, compiled, tested and checked as by somebody who writes one. */
final class PluginsCommandsTest {
  @TempDir private Path scratch;

  private static Shell.CommandResult run(String... command) {
    return Shell.run(command);
  }

  private void failed(int code, String message, String... command) {
    Shell.CommandResult ran = run(command);
    assertThat(ran.code()).as(ran.out() + ran.err()).isEqualTo(code);
    assertThat(ran.err()).contains(message);
  }

  private static void compile(Path target, List<Path> sources) throws IOException {
    Files.createDirectories(target);
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "-proc:none",
                "-Xlint:all",
                "-cp",
                System.getProperty("java.class.path"),
                "-d",
                target.toString()));
    sources.forEach(source -> arguments.add(source.toString()));
    int code =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                OutputStream.nullOutputStream(),
                System.err,
                arguments.toArray(String[]::new));
    assertThat(code).isZero();
  }

  private Path compiled(String name, String declarations, String body) throws IOException {
    Path source =
        Files.writeString(
            scratch.resolve(name + ".java"),
            """
            package my;
            import io.millrace.queues.plugin.*;
            %s {
              %s
            }
            """
                .formatted(declarations, body));
    Path classes = scratch.resolve("classes-" + name);
    compile(classes, List.of(source));
    return classes;
  }

  @Test
  void a_new_project_compiles_passes_its_test_and_its_check() throws Exception {
    Path project = scratch.resolve("greet");
    Shell.CommandResult created =
        run("plugins", "new", "org.my.Greet", "--directory", project.toString());
    assertThat(created.code()).as(created.err()).isZero();
    assertThat(created.out()).contains("plugins check org.my.Greet --classpath");
    assertThat(project.resolve("pom.xml")).content().contains("millrace-queues");
    Matcher junit =
        Pattern.compile("<junit.version>(.*)</junit.version>")
            .matcher(Files.readString(Path.of("../pom.xml")));
    assertThat(junit.find()).isTrue();
    assertThat(project.resolve("pom.xml"))
        .content()
        .contains("<version>" + junit.group(1) + "</version>");

    Path classes = project.resolve("target/classes");
    compile(
        classes,
        List.of(
            project.resolve("src/main/java/org/my/Greet.java"),
            project.resolve("src/test/java/org/my/GreetTest.java")));
    try (URLClassLoader loader =
        new URLClassLoader(new URL[] {classes.toUri().toURL()}, getClass().getClassLoader())) {
      Class<?> test = loader.loadClass("org.my.GreetTest");
      int tests = 0;
      for (Method method : test.getDeclaredMethods()) {
        if (method.isAnnotationPresent(Test.class)) {
          var constructor = test.getDeclaredConstructor();
          constructor.setAccessible(true);
          Object instance = constructor.newInstance();
          Field folder = test.getDeclaredField("folder");
          folder.setAccessible(true);
          folder.set(instance, Files.createTempDirectory(scratch, "run"));
          method.setAccessible(true);
          method.invoke(instance);
          tests++;
        }
      }
      assertThat(tests).isEqualTo(2);
    }

    String[] check = {"plugins", "check", "org.my.Greet", "--classpath", classes.toString()};
    assertThat(run(check).out())
        .contains("who  string, required  whom to greet", "times  integer")
        .doesNotContain("status");
    Shell.CommandResult ran =
        run(
            "plugins",
            "check",
            "org.my.Greet",
            "-c",
            classes.toString(),
            "--params",
            "{\"who\": \"ann\"}");
    assertThat(ran.code()).as(ran.err()).isZero();
    assertThat(ran.out()).contains("hello ann", "status 1");
    failed(
        3,
        "needs the param \"who\"",
        "plugins",
        "check",
        "org.my.Greet",
        "-c",
        classes.toString(),
        "--params",
        "{}");
    failed(
        2,
        "--params",
        "plugins",
        "check",
        "org.my.Greet",
        "-c",
        classes.toString(),
        "--params",
        "x");
    failed(1, "is not empty", "plugins", "new", "org.my.Greet", "-d", project.toString());
    failed(2, "my.Greet", "plugins", "new", "greet", "-d", scratch.resolve("x").toString());
  }

  @Test
  void mistakes_of_classes_are_named() throws Exception {
    String run = "public int run(PluginTask task) { throw new IllegalStateException(\"why\"); }";
    String plugin = "public class Bad implements Plugin";
    failed(
        4,
        "found: my.Bad",
        "plugins",
        "check",
        "my.Other",
        "-c",
        compiled("Bad", plugin, run).toString());
    failed(
        6,
        "IllegalStateException: why",
        "plugins",
        "check",
        "my.Bad",
        "-c",
        compiled("Bad", plugin, run).toString(),
        "--params",
        "{}");
    failed(
        1,
        "does not implement Plugin",
        "plugins",
        "check",
        "my.Plain",
        "-c",
        compiled("Plain", "public class Plain", "").toString());
    failed(
        1,
        "NoSuchMethodException",
        "plugins",
        "check",
        "my.Args",
        "-c",
        compiled("Args", "public class Args implements Plugin", "public Args(int x) {}" + run)
            .toString());
    failed(
        1,
        "declared twice",
        "plugins",
        "check",
        "my.Twice",
        "-c",
        compiled(
                "Twice",
                "@PluginParam(name = \"a\") @PluginParam(name = \"a\") public class Twice"
                    + " implements Plugin",
                run)
            .toString());
    failed(
        4,
        "there is no",
        "plugins",
        "check",
        "my.Bad",
        "-c",
        scratch.resolve("none.jar").toString());
  }

  @Test
  void an_executable_is_checked_and_run() throws Exception {
    Path file =
        Files.writeString(
            scratch.resolve("resize"),
            "#!/bin/sh\ncat; echo; echo oops >&2\necho 17 > $MILLRACE_STATUS_FILE\n");
    failed(1, "chmod +x", "plugins", "check", file.toString());
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    assertThat(run("plugins", "check", file.toString()).out()).contains("takes any");
    Files.writeString(
        scratch.resolve("resize.params.json"),
        "{\"params\": [{\"name\": \"width\", \"type\": \"integer\"}]}");
    Shell.CommandResult ran =
        run("plugins", "check", file.toString(), "--params", "{\"width\": 80}");
    assertThat(ran.code()).isZero();
    assertThat(ran.out()).contains("width  integer", "{\"width\":80}", "status 17");
    assertThat(ran.err()).contains("oops");
    failed(
        3,
        "must be an integer",
        "plugins",
        "check",
        file.toString(),
        "--params",
        "{\"width\": \"80\"}");
    Files.writeString(scratch.resolve("resize.params.json"), "{\"params\": 1}");
    failed(1, "resize.params.json is wrong", "plugins", "check", file.toString());
    failed(4, "--classpath", "plugins", "check", "my.Greet");
  }

  @Test
  void a_class_of_Perl_is_loaded_and_run() throws Exception {
    assumeTrue(ProcessLauncher.program("perl").isPresent(), "perl is not installed");
    Path lib = Files.createDirectories(scratch.resolve("lib/Site"));
    Files.writeString(
        lib.resolve("Greet.pm"),
        """
        package Site::Greet;
        sub new { my ($class, %self) = @_; return bless \\%self, $class }
        sub run { return {status => 2, stdout => "hello $_[0]{task}{params}{who}"} }
        1;
        """);
    Files.writeString(lib.resolve("Broken.pm"), "package Site::Broken; use No::Such;");
    String folder = scratch.resolve("lib").toString();

    Shell.CommandResult checked = run("plugins", "check", "Site::Greet", "--perl-lib", folder);
    assertThat(checked.code()).as(checked.err()).isZero();
    assertThat(checked.out()).isEqualTo("Site::Greet declares no params, so it takes any\n");
    Shell.CommandResult ran =
        run(
            "plugins",
            "check",
            "Site::Greet",
            "--perl-lib",
            folder,
            "--params",
            "{\"who\": \"ann\"}");
    assertThat(ran.out()).contains("hello ann\n", "status 2\n");
    assertThat(ran.code()).isEqualTo(6);
    failed(1, "No/Such.pm", "plugins", "check", "Site::Broken", "--perl-lib", folder);
    failed(
        4, "there is no class Site.None", "plugins", "check", "Site::None", "--perl-lib", folder);
  }
}
