package io.millrace.queues.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.processes.FileTree;
import io.millrace.queues.plugin.PluginDeclaration.Param;
import io.millrace.queues.plugin.PluginDeclaration.ParamType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PluginFolderTest {
  private final Path path;
  private final Path copies;
  private final PluginFolder folder;

  PluginFolderTest(@TempDir Path path, @TempDir Path copies) {
    this.path = path;
    this.copies = copies.resolve("classes");
    this.folder = new PluginFolder(path);
  }

  private void executable(String name) throws IOException {
    Path file = Files.writeString(path.resolve(name), "#!/bin/sh\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  @Test
  void without_a_folder_there_are_the_built_in_plugins() {
    PluginFolder none = new PluginFolder(null);

    assertThat(none.names())
        .containsExactlyInAnyOrder("demo", "Disbatch::Plugin::Demo", "exec", "shell");
    assertThat(none.has("shell")).isTrue();
    assertThat(none.has("other")).isFalse();
  }

  @Test
  void an_executable_is_a_plugin_by_its_name_and_the_mark_tells_when_it_comes() throws Exception {
    String before = folder.mark();
    assertThat(folder.has("Disbatch::Plugin::X")).isFalse();

    executable("Disbatch::Plugin::X");

    assertThat(folder.has("Disbatch::Plugin::X")).isTrue();
    assertThat(folder.names()).contains("Disbatch::Plugin::X");
    assertThat(folder.mark()).isNotEqualTo(before);
  }

  @Test
  void a_file_that_is_not_executable_is_none() throws Exception {
    Files.writeString(path.resolve("notes.txt"), "x");

    assertThat(folder.has("notes.txt")).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".", "..", "../x", "/bin/sh", "a b", "x\n", "ü"})
  void what_is_no_name_is_never_looked_for(String name) throws Exception {
    assertThat(PluginFolder.isName(name)).isFalse();
    assertThat(folder.has(name)).isFalse();
    try (Plugins plugins = plugins()) {
      assertThatThrownBy(() -> plugins.find(folder, name)).isInstanceOf(PluginException.class);
    }
  }

  @Test
  void a_class_in_a_folder_of_classes_is_a_plugin_by_its_class_name() throws Exception {
    Compiled.into(path.resolve("mine"), "my.Double", "return 2 * task.params().size();");

    assertThat(folder.has("my.Double")).isTrue();
    assertThat(folder.has("my::Double")).isTrue();
    assertThat(folder.has("my.Other")).isFalse();
    try (Plugins plugins = plugins()) {
      assertThat(plugins.find(folder, "my.Double")).isInstanceOf(Plugins.InProcess.class);
    }
  }

  @Test
  void classes_that_implement_the_interface_are_found_without_a_list() throws Exception {
    Path built = copies.resolveSibling("built");
    Compiled.into(built, "my.Packed", "class Later {} return 1;");
    Compiled.jar(built, path.resolve("my.jar"));
    Compiled.into(path.resolve("mine"), "my.Loose", "return 1;");
    Files.writeString(path.resolve("mine/my/Broken.class"), "no class");
    Files.writeString(path.resolve("broken.jar"), "no jar");

    assertThat(folder.names()).contains("my.Packed", "my.Loose");
    assertThat(folder.names()).filteredOn(name -> name.startsWith("my")).hasSize(2);
  }

  @Test
  void classes_and_executables_declare_their_params() throws Exception {
    Compiled.into(
        path.resolve("mine"),
        "my.Greet",
        "return 1;",
        """
        @io.millrace.queues.plugin.PluginParam(name = "who",
            type = io.millrace.queues.plugin.PluginDeclaration.ParamType.STRING,
            required = true, description = "whom")
        @io.millrace.queues.plugin.PluginParam(name = "x")
        """);
    Compiled.into(
        path.resolve("mine"),
        "my.One",
        "return 1;",
        "@io.millrace.queues.plugin.PluginParam(name = \"only\")");
    Compiled.into(
        path.resolve("mine"),
        "my.None",
        "return 1;",
        "@io.millrace.queues.plugin.PluginParams({})");
    Compiled.into(path.resolve("mine"), "my.Any", "return 1;");
    executable("resize");
    executable("broken");
    executable("silent");
    Files.writeString(
        path.resolve("resize.params.json"),
        "{\"params\": [{\"name\": \"width\", \"type\": \"integer\"}]}");
    Files.writeString(path.resolve("broken.params.json"), "{\"params\": [{\"nam\": 1}]}");

    Param who = new Param("who", ParamType.STRING, true, "whom");
    assertThat(folder.declarations())
        .containsOnly(
            Map.entry("my.Greet", declaring(who, new Param("x", ParamType.ANY, false, ""))),
            Map.entry("my.One", declaring(new Param("only", ParamType.ANY, false, ""))),
            Map.entry("my.None", declaring()),
            Map.entry("resize", declaring(new Param("width", ParamType.INTEGER, false, ""))));
  }

  private static PluginDeclaration declaring(Param... params) {
    return new PluginDeclaration(List.of(params));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "{}",
        "{\"params\": {}}",
        "{\"params\": [], \"x\": 1}",
        "{\"params\": [1]}",
        "{\"params\": [{}]}",
        "{\"params\": [{\"name\": \"\"}]}",
        "{\"params\": [{\"name\": \"a\", \"type\": \"text2\"}]}",
        "{\"params\": [{\"name\": \"a\", \"required\": \"yes\"}]}",
        "{\"params\": [{\"name\": \"a\"}, {\"name\": \"a\"}]}"
      })
  void what_is_no_declaration_is_refused(String json) {
    assertThatThrownBy(() -> PluginDeclaration.parse(json.getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void a_declaration_is_read_as_it_was_written() {
    PluginDeclaration demo = PluginFolder.ofBuiltIn("demo").orElseThrow();
    assertThat(PluginDeclaration.read(demo.json())).isEqualTo(demo);
    assertThat(demo.params()).hasSize(4);
  }

  @Test
  void a_jar_may_list_its_plugins() throws Exception {
    Path classes = copies.resolveSibling("built");
    Compiled.into(classes, "my.Listed", "return 1;");
    Compiled.jar(classes, path.resolve("my.jar"), "my.Listed");

    assertThat(folder.has("my.Listed")).isTrue();
    assertThat(folder.names()).contains("my.Listed");
  }

  @Test
  void the_mark_tells_of_a_class_that_comes_changes_or_goes_deep_in_a_folder() throws Exception {
    Path classes = path.resolve("mine");
    Compiled.into(classes, "my.own.First", "return 1;");
    String before = folder.mark();
    assertThat(folder.mark()).isEqualTo(before);

    Compiled.into(classes, "my.own.Second", "return 1;");
    String added = folder.mark();
    Compiled.into(classes, "my.own.Second", "return 1 + task.params().size();");
    String changed = folder.mark();
    Files.delete(classes.resolve("my/own/Second.class"));

    assertThat(added).isNotEqualTo(before);
    assertThat(changed).isNotEqualTo(added);
    assertThat(folder.mark()).isEqualTo(before);
  }

  @Test
  void a_link_that_leads_into_a_circle_does_not_hold_the_look_up() throws Exception {
    Path classes = path.resolve("mine");
    Compiled.into(classes, "my.Looping", "return 3;");
    Files.createSymbolicLink(classes.resolve("again"), path);

    try (Plugins plugins = plugins()) {
      assertThat(run(ready(plugins, "my.Looping"))).isEqualTo(3);
    }
  }

  @Test
  void a_replaced_class_is_loaded_anew() throws Exception {
    Path classes = path.resolve("mine");
    try (Plugins plugins = plugins()) {
      Compiled.into(classes, "my.Changing", "return 3;");
      assertThat(run(ready(plugins, "my.Changing"))).isEqualTo(3);

      Compiled.into(classes, "my.Changing", "return 4 + task.params().size();");
      assertThat(run(ready(plugins, "my.Changing"))).isEqualTo(4);
    }
  }

  @Test
  void what_runs_is_not_disturbed_when_its_jar_is_written_over() throws Exception {
    Path classes = copies.resolveSibling("built");
    Compiled.into(
        classes,
        "my.Slow",
        "class Later { int status() { return 7; } } return new Later().status();");
    Path jar = path.resolve("my.jar");
    Compiled.jar(classes, jar, "my.Slow");
    try (Plugins plugins = plugins()) {
      Plugin running = ready(plugins, "my.Slow");

      Files.write(jar, new byte[(int) Files.size(jar)]);

      assertThat(run(running)).isEqualTo(7);
    }
  }

  @Test
  void what_runs_is_not_disturbed_when_its_classes_are_removed() throws Exception {
    Path classes = path.resolve("mine");
    Compiled.into(
        classes,
        "my.Slow",
        "class Later { int status() { return 7; } } return new Later().status();");
    try (Plugins plugins = plugins()) {
      Plugin running = ready(plugins, "my.Slow");

      FileTree.remove(classes);

      assertThat(run(running)).isEqualTo(7);
    }
  }

  @Test
  void copies_of_classes_go_with_their_runner() throws Exception {
    Compiled.into(path.resolve("mine"), "my.Some", "return 1;");

    try (Plugins plugins = plugins()) {
      ready(plugins, "my.Some");
      assertThat(copies).isNotEmptyDirectory();
    }

    assertThat(copies).doesNotExist();
  }

  private Plugins plugins() {
    return new Plugins(copies);
  }

  private Plugin ready(Plugins plugins, String name) throws Exception {
    return ((Plugins.InProcess) plugins.find(folder, name)).plugin();
  }

  // The plugins under test look at nothing of their task.
  private static int run(Plugin plugin) throws Exception {
    return plugin.run(NoTask.INSTANCE);
  }
}
