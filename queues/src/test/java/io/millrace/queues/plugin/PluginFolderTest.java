package io.millrace.queues.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PluginFolderTest {
  private final Path path;
  private final PluginFolder folder;

  PluginFolderTest(@TempDir Path path) {
    this.path = path;
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
    assertThatThrownBy(() -> new Plugins().find(folder, name)).isInstanceOf(PluginException.class);
  }

  @Test
  void a_class_in_a_folder_of_classes_is_a_plugin_by_its_class_name() throws Exception {
    Compiled.into(path.resolve("mine"), "my.Double", "return 2 * task.params().size();");

    assertThat(folder.has("my.Double")).isTrue();
    assertThat(folder.has("my::Double")).isTrue();
    assertThat(folder.has("my.Other")).isFalse();
    try (Plugins plugins = new Plugins()) {
      assertThat(plugins.find(folder, "my.Double")).isInstanceOf(Plugins.InProcess.class);
    }
  }

  @Test
  void a_jar_may_list_its_plugins() throws Exception {
    Path classes = path.resolveSibling("classes-" + path.getFileName());
    Compiled.into(classes, "my.Listed", "return 1;");
    Compiled.jar(classes, path.resolve("my.jar"), "my.Listed");

    assertThat(folder.has("my.Listed")).isTrue();
    assertThat(folder.names()).contains("my.Listed");
  }

  @Test
  void a_replaced_class_is_loaded_anew() throws Exception {
    Path classes = path.resolve("mine");
    try (Plugins plugins = new Plugins()) {
      Compiled.into(classes, "my.Changing", "return 3;");
      assertThat(run(plugins)).isEqualTo(3);

      Compiled.into(path.resolve("newer"), "my.Other", "return 1;");
      Compiled.into(classes, "my.Changing", "return 4;");
      assertThat(run(plugins)).isEqualTo(4);
    }
  }

  // The plugin under test looks at nothing of its task.
  private int run(Plugins plugins) throws Exception {
    Plugins.InProcess ready = (Plugins.InProcess) plugins.find(folder, "my.Changing");
    return ready.plugin().run(NoTask.INSTANCE);
  }
}
