package io.millrace.cli.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import io.millrace.server.MillraceServer;
import io.millrace.server.config.Configuration;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class StoreCommandsTest {
  private static final JsonMapper JSON = new JsonMapper();

  @TempDir private Path scratch = Path.of("");

  private Shell.CommandResult onFolder(String... command) {
    return Shell.run(with(command, "--data", scratch.resolve("data").toString()));
  }

  private static String[] with(String[] command, String... more) {
    return Stream.of(Stream.of("store"), Stream.of(command), Stream.of(more))
        .flatMap(part -> part)
        .toArray(String[]::new);
  }

  private static MillraceServer serve(Path folder) {
    return MillraceServer.start(
        Configuration.read(
            MillraceServer.SECTIONS,
            null,
            Map.of("store.data", folder.toString(), "server.port", "0")));
  }

  @Test
  void a_task_goes_through_its_life_in_a_folder() {
    assertThat(onFolder("add", "map", "some text").code()).isZero();
    assertThat(onFolder("groups").out()).contains("GROUP").contains("map");
    Shell.CommandResult claimed = onFolder("claim", "map", "--json");
    assertThat(claimed.code()).isZero();
    JsonNode task = JSON.readTree(claimed.out()).get("tasks").get(0);
    assertThat(task.get("data").asString()).isEqualTo("some text");
    assertThat(task.get("state").asString()).isEqualTo("claimed");
    String id = task.get("id").asString();
    assertThat(onFolder("claim", "map").code()).isEqualTo(4);
    assertThat(onFolder("list", "map", "--json").out()).isEqualToIgnoringWhitespace("[]");
    assertThat(onFolder("list", "map", "--all").out()).contains("some text").contains("claimed");
    Shell.CommandResult refused = onFolder("delete", id, "--client", "99");
    assertThat(refused.code()).isEqualTo(3);
    assertThat(refused.err()).contains("refused").contains(id);
    assertThat(onFolder("update", id, "--renew", "5m").code()).isZero();
    assertThat(onFolder("update", "~1", "other text").out()).contains("other text");
    assertThat(onFolder("get", "~1", "--raw").out()).isEqualTo("other text");
    assertThat(onFolder("update", "~1", "--take", "5m").out()).contains("claimed");
    assertThat(onFolder("update", "~1", "--take", "5m").err()).contains("refused");
    assertThat(onFolder("update", "~1", "--take", "5m", "--renew", "5m").code()).isEqualTo(2);
    assertThat(onFolder("update", "~1", "text", "--take", "5m").err()).contains("--take");
    assertThat(onFolder("delete", "~1").code()).isZero();
    assertThat(onFolder("get", "~1").code()).isEqualTo(4);
    assertThat(onFolder("groups", "--json").out()).isEqualToIgnoringWhitespace("[]");
  }

  @Test
  void a_refusal_as_json_has_its_kinds() {
    onFolder("add", "g");
    Shell.CommandResult ran = onFolder("delete", "77", "--json");
    assertThat(ran.code()).isEqualTo(3);
    assertThat(JSON.readTree(ran.out()).get("refusal").get(0).get("kind").asString())
        .isEqualTo("deletes");
  }

  @Test
  void data_may_be_any_bytes() throws IOException {
    byte[] bytes = {0, (byte) 0xff, 'a', '\n', (byte) 0xc3};
    Path file = Files.write(scratch.resolve("bytes"), bytes);
    onFolder("add", "g", "--from", file.toString());
    Shell.CommandResult shown = onFolder("get", "1", "--json");
    assertThat(JSON.readTree(shown.out()).get(0).get("data64").asString()).isEqualTo("AP9hCsM=");
    assertThat(onFolder("list", "g").out().lines()).hasSize(2);
  }

  @Test
  void a_list_goes_on_after_a_place() throws IOException {
    onFolder("add", "g", "one");
    onFolder("add", "g", "two");
    JsonNode first = JSON.readTree(onFolder("list", "g", "--limit", "1", "--json").out()).get(0);
    String place = first.get("timespec").asString() + "~" + first.get("origin").asString();
    assertThat(onFolder("list", "g", "--after", place).out()).contains("two").doesNotContain("one");
    Shell.CommandResult wrong = onFolder("list", "g", "--after", "7");
    assertThat(wrong.code()).isEqualTo(2);
    assertThat(wrong.err()).contains("not the place of a task: \"7\"");
  }

  @Test
  void a_server_is_asked_and_backed_up_and_its_backup_becomes_a_store() {
    try (MillraceServer server = serve(scratch.resolve("served"))) {
      String[] target = {"--server", "http://127.0.0.1:" + server.port()};
      assertThat(Shell.run(with(new String[] {"add", "wörk/1", "x"}, target)).code()).isZero();
      assertThat(Shell.run(with(new String[] {"list", "wörk/1"}, target)).out()).contains(" x");
      Path backup = scratch.resolve("backup");
      String[] save = with(new String[] {"backup", backup.toString()}, target);
      assertThat(Shell.run(save).code()).isZero();
      assertThat(Shell.run(save).err()).contains("--force");
      assertThat(Shell.run("store", "groups", "--data", scratch.resolve("served").toString()).err())
          .contains("in use");
    }
    String data = scratch.resolve("data").toString();
    Shell.CommandResult restored =
        Shell.run("store", "restore", scratch.resolve("backup").toString(), "--data", data);
    assertThat(restored.code()).isZero();
    assertThat(onFolder("list", "wörk/1").out()).contains(" x");
    assertThat(onFolder("verify").out()).contains("sound");
  }

  @Test
  void changes_can_be_watched_from_a_position() {
    try (MillraceServer server = serve(scratch.resolve("served"))) {
      String[] target = {"--server", "http://127.0.0.1:" + server.port()};
      JsonNode added =
          JSON.readTree(
              Shell.run(with(new String[] {"add", "g", "first", "--json"}, target)).out());
      Shell.run(with(new String[] {"add", "g", "second"}, target));
      Shell.run(with(new String[] {"delete", "1"}, target));
      String position = added.get("position").asString();
      Shell.CommandResult seen =
          Shell.run(
              with(new String[] {"watch", "--group", "g", "--after", position, "-n", "2"}, target));
      assertThat(seen.code()).isZero();
      List<String> lines = seen.out().lines().toList();
      assertThat(lines).hasSize(2);
      assertThat(lines.getFirst()).contains("added").contains("second");
      assertThat(lines.getLast()).contains("deleted  1 of origin 1 in g");
    }
  }

  @Test
  void a_damaged_folder_is_told_from_a_sound_one_and_from_none() throws IOException {
    assertThat(Shell.run("store", "verify", "--data", scratch.toString()).code()).isEqualTo(4);
    assertThat(Shell.run("store", "verify", "--data", scratch + "/no").code()).isEqualTo(1);
    for (int i = 0; i < 3; i++) {
      onFolder("add", "g", "task " + i);
    }
    assertThat(onFolder("verify").code()).isZero();
    assertThat(onFolder("verify").out()).contains("3 tasks in 1 groups");
    JsonNode sound = JSON.readTree(onFolder("verify", "--json").out());
    assertThat(sound.get("tasks").asInt()).isEqualTo(3);
    assertThat(sound.get("position").asLong()).isEqualTo(sound.get("lastPosition").asLong());
    Path segment;
    try (Stream<Path> files = Files.list(scratch.resolve("data"))) {
      segment = files.filter(path -> size(path) > 100_000).findFirst().orElseThrow();
    }
    byte[] bytes = Files.readAllBytes(segment);
    int at = new String(bytes, StandardCharsets.ISO_8859_1).indexOf("task 0");
    bytes[at] ^= 1;
    Files.write(segment, bytes);
    Shell.CommandResult damaged = onFolder("verify", "--json");
    assertThat(damaged.code()).isEqualTo(5);
    assertThat(JSON.readTree(damaged.out()).get("damages").get(0).get("file").asString())
        .isEqualTo(segment.getFileName().toString());
    assertThat(onFolder("groups").code()).isEqualTo(5);
  }

  @Test
  void a_store_that_does_not_start_is_salvaged_up_to_the_damage() throws IOException {
    for (int i = 0; i < 4; i++) {
      onFolder("add", "g", "task " + i);
    }
    Path segment;
    try (Stream<Path> files = Files.list(scratch.resolve("data"))) {
      segment = files.filter(path -> size(path) > 100_000).findFirst().orElseThrow();
    }
    byte[] bytes = Files.readAllBytes(segment);
    bytes[new String(bytes, StandardCharsets.ISO_8859_1).indexOf("task 2")] ^= 1;
    Files.write(segment, bytes);
    assertThat(onFolder("groups").err()).contains("damaged journal").contains("journal-damage.md");
    String backup = scratch.resolve("backup").toString();
    Shell.CommandResult salvaged = onFolder("salvage", backup);
    assertThat(salvaged.code()).isZero();
    assertThat(salvaged.out())
        .contains("DAMAGE: " + segment.getFileName() + " at byte ")
        .contains("saved the first 2 commits in " + backup);
    assertThat(Files.readAllBytes(segment)).isEqualTo(bytes);
    assertThat(onFolder("salvage", backup).err()).contains("--force");
    String restored = scratch.resolve("restored").toString();
    assertThat(Shell.run("store", "restore", backup, "--data", restored).code()).isZero();
    assertThat(Shell.run("store", "list", "g", "--data", restored).out())
        .contains("task 0")
        .contains("task 1")
        .doesNotContain("task 3");
    JsonNode added =
        JSON.readTree(Shell.run("store", "add", "g", "new", "--json", "--data", restored).out());
    assertThat(added.get("position").asString()).as("ids are not given twice").isNotBlank();
    assertThat(added.get("tasks").get(0).get("id").asLong()).isGreaterThan(1L << 32);
  }

  @Test
  void nothing_is_salvaged_of_a_folder_without_a_store() {
    String backup = scratch.resolve("backup").toString();
    assertThat(Shell.run("store", "salvage", backup, "--data", scratch.toString()).err())
        .contains("nothing of a store can be read in " + scratch);
    assertThat(Shell.run("store", "salvage", backup, "--data", scratch + "/no").err())
        .contains("there is no folder " + scratch + "/no");
    assertThat(scratch.resolve("backup")).doesNotExist();
  }

  private static long size(Path path) {
    return path.toFile().length();
  }

  @Test
  void mistakes_are_named() {
    assertThat(onFolder("groups").code()).isEqualTo(1);
    onFolder("add", "g");
    assertThat(onFolder("get", "x7").err()).contains("x7");
    assertThat(onFolder("get", "x7").code()).isEqualTo(2);
    assertThat(onFolder("claim", "g", "--lease", "1 hour").code()).isEqualTo(2);
    assertThat(Shell.run("store", "groups", "--server", "ftp://x").code()).isEqualTo(2);
    assertThat(Shell.run("store", "groups", "--server", "http://x", "-d", "y").code()).isEqualTo(2);
    assertThat(Shell.run("store", "watch", "-d", scratch.toString(), "--after", "?").code())
        .isEqualTo(2);
  }
}
