package io.millrace.queues.runner;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.processes.PrivateFiles;
import io.millrace.queues.runner.TaskFolder.WorkFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WorkFolderTest {
  private final TaskFolder folder;
  private final WorkFolder room;

  WorkFolderTest(@TempDir Path runner) {
    folder = new TaskFolder(runner);
    room = new WorkFolder(folder);
  }

  @BeforeEach
  void prepare() {
    room.prepare();
  }

  @Test
  void a_task_finds_nothing_of_the_one_before_it() throws IOException {
    Files.writeString(folder.status(), "7");
    Files.createDirectories(folder.work().resolve("deep/down"));
    Files.writeString(folder.work().resolve("deep/down/file"), "left");

    room.clear();
    room.prepare();

    assertThat(folder.status()).doesNotExist();
    assertThat(folder.work()).isEmptyDirectory();
  }

  @Test
  void a_folder_that_was_left_as_it_was_is_used_again() throws IOException {
    Object before = Files.getAttribute(folder.work(), "unix:ino");

    room.clear();
    room.prepare();

    assertThat(Files.getAttribute(folder.work(), "unix:ino")).isEqualTo(before);
  }

  @Test
  void a_file_that_nobody_writes_to_any_more_takes_the_next_output() throws IOException {
    WorkFolder keeping = new WorkFolder(folder, file -> file.equals(folder.output("stdout")));
    keeping.prepare();
    for (String name : List.of("stdout", "stderr", "stdout.pipe")) {
      PrivateFiles.createFile(folder.output(name));
    }

    keeping.clear();
    keeping.prepare();

    assertThat(folder.output("stdout")).exists();
    assertThat(folder.output("stderr")).doesNotExist();
    assertThat(folder.output("stdout.pipe")).doesNotExist();
    Capture next = new Capture("stdout", folder.output("stdout"), "prefix");
    assertThat(next.loss()).isNull();
  }

  @Test
  void a_file_that_a_task_has_changed_takes_no_other_output() throws IOException {
    WorkFolder keeping = new WorkFolder(folder, _ -> true);
    keeping.prepare();
    PrivateFiles.createFile(folder.output("stdout"));
    Files.createLink(folder.runner().resolve("elsewhere"), folder.output("stdout"));
    Files.createSymbolicLink(folder.output("stderr"), folder.runner().resolve("elsewhere"));

    keeping.clear();

    assertThat(folder.output("stdout")).doesNotExist();
    assertThat(Files.isSymbolicLink(folder.output("stderr"))).isFalse();
  }

  @Test
  void what_came_after_the_task_had_ended_is_gone_too() throws IOException {
    room.clear();
    Files.writeString(folder.work().resolve("late"), "left");

    room.prepare();

    assertThat(folder.work()).isEmptyDirectory();
  }

  @Test
  void a_folder_with_other_rights_is_made_anew() throws IOException {
    Set<PosixFilePermission> before = Files.getPosixFilePermissions(folder.work());
    Files.setPosixFilePermissions(folder.work(), PosixFilePermissions.fromString("r-x--x--x"));

    room.clear();
    room.prepare();

    assertThat(Files.getPosixFilePermissions(folder.work())).isEqualTo(before);
  }

  @Test
  void a_task_may_remove_its_folder_or_put_a_link_in_its_place(@TempDir Path elsewhere)
      throws IOException {
    Path precious = Files.writeString(elsewhere.resolve("precious"), "of another");
    Files.delete(folder.work());
    Files.createSymbolicLink(folder.work(), elsewhere);

    room.clear();
    room.prepare();

    assertThat(precious).hasContent("of another");
    assertThat(folder.work()).isEmptyDirectory();
    assertThat(Files.isSymbolicLink(folder.work())).isFalse();
  }
}
