package io.millrace.cluster.lambda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.cluster.gadget.Gadget;
import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.tools.JavaCompiler;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TrustedClassesTest {
  private static final String SOURCE =
      """
      package com.example;
      import io.millrace.cluster.lambda.SerializableLambda;
      public class Program {
        public record Context(String name) implements java.io.Serializable {}
        public static SerializableLambda<String> lambda(String name) {
          Context context = new Context(name);
          return () -> "hello " + context.name();
        }
      }
      """;

  @TempDir private Path folder = Path.of("");

  @Test
  void lambdas_and_records_of_a_class_loader_of_the_user_can_be_sent() throws Exception {
    compile();
    try (URLClassLoader leader = loader();
        URLClassLoader member = loader()) {
      LambdaCodec here = new LambdaCodec(TestCodecs.SECRET, TrustedClasses.classesOf(leader));
      byte[] envelope = here.sealLambda(TestCodecs.HERE, lambda(leader));
      LambdaCodec there = new LambdaCodec(TestCodecs.SECRET, TrustedClasses.classesOf(member));
      SerializableLambda<?> lambda = there.openLambda(envelope).lambda();
      assertThat(lambda.run()).isEqualTo("hello you");
      assertThat(lambda.getClass().getClassLoader()).isSameAs(member);
    }
  }

  @Test
  void a_member_without_the_class_of_the_user_names_it_in_its_error() throws Exception {
    compile();
    try (URLClassLoader leader = loader()) {
      LambdaCodec here = new LambdaCodec(TestCodecs.SECRET, TrustedClasses.classesOf(leader));
      LambdaCodec.SealedLambda sealed =
          TestCodecs.codec().openLambda(here.sealLambda(TestCodecs.HERE, lambda(leader)));
      assertThatThrownBy(sealed::lambda)
          .isInstanceOf(RefusedLambdaException.class)
          .hasMessage("there is no class com.example.Program$Context on this member's class path");
    }
  }

  @Test
  void trusting_a_class_loader_of_the_user_trusts_no_other_classes() throws IOException {
    try (URLClassLoader users = loader()) {
      assertThat(TrustedClasses.classesOf(users).allows(Gadget.class)).isFalse();
      assertThat(TrustedClasses.classesOf(users).allows(ConcurrentHashMap.class)).isFalse();
    }
    ClassLoader all = Gadget.class.getClassLoader();
    assertThat(TrustedClasses.classesOf(all).allows(Gadget.class)).isFalse();
    assertThat(TrustedClasses.classesOf(all.getParent()).allows(ToolProvider.class)).isFalse();
  }

  @Test
  void a_trusted_package_includes_the_packages_below_it_and_no_others() {
    TrustedClasses trusted = TrustedClasses.packages("io.millrace.cluster.gad").and("com.example");
    assertThat(trusted.allows(Gadget.class)).isFalse();
    assertThat(trusted.and("io.millrace.cluster.gadget").allows(Gadget.class)).isTrue();
    assertThat(trusted.and("io.millrace").allows(Gadget.class)).isTrue();
    assertThat(trusted.packages()).isEqualTo(Set.of("io.millrace.cluster.gad", "com.example"));
  }

  @Test
  void an_invalid_package_name_is_refused() {
    for (String name : List.of("", ".", "a.", "a..b", "1a", "a b", "a.*")) {
      assertThatThrownBy(() -> TrustedClasses.packages(name))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("'" + name + "' is not the name of a package");
    }
  }

  private URLClassLoader loader() throws IOException {
    return new URLClassLoader(
        new URL[] {folder.toUri().toURL()}, LambdaCodec.class.getClassLoader());
  }

  private static SerializableLambda<?> lambda(ClassLoader loader)
      throws ReflectiveOperationException {
    Object lambda =
        loader
            .loadClass("com.example.Program")
            .getMethod("lambda", String.class)
            .invoke(null, "you");
    if (lambda instanceof SerializableLambda<?> one) {
      return one;
    }
    throw new AssertionError("no lambda: " + lambda);
  }

  private void compile() throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    Files.createDirectories(folder);
    boolean compiled =
        compiler
            .getTask(
                null,
                null,
                null,
                List.of("-d", folder.toString(), "-cp", System.getProperty("java.class.path", "")),
                null,
                List.of(new Source()))
            .call();
    assertThat(compiled).isTrue();
  }

  private static final class Source extends SimpleJavaFileObject {
    Source() {
      super(URI.create("string:///com/example/Program.java"), Kind.SOURCE);
    }

    @Override
    public CharSequence getCharContent(boolean ignoreErrors) {
      return SOURCE;
    }
  }
}
