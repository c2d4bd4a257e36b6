package io.millrace.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/** User classes, compiled from source. */
final class UserClasses {
  private UserClasses() {}

  /** Compiles a class into a folder. */
  static void compile(Path folder, String name, String source) {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    List<String> options =
        List.of("-d", folder.toString(), "-cp", System.getProperty("java.class.path", ""));
    JavaFileObject text =
        new SimpleJavaFileObject(
            URI.create("string:///" + name.replace('.', '/') + ".java"),
            JavaFileObject.Kind.SOURCE) {
          @Override
          public CharSequence getCharContent(boolean ignoreErrors) {
            return source;
          }
        };
    boolean compiled = compiler.getTask(null, null, null, options, null, List.of(text)).call();
    assertThat(compiled).as(name).isTrue();
  }
}
