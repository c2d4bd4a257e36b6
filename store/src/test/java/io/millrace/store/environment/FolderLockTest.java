package io.millrace.store.environment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.Owner;
import io.millrace.store.StoreException;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A folder belongs to one opening, whatever other openings of it were tried and refused. */
class FolderLockTest {
  private static final String OPENED = "opened";
  private static final String REFUSED = "refused";

  @TempDir private Path temporary;

  /** A process of its own: opens the store of the folder given, and says what came of it. */
  static final class OtherProcess {
    private OtherProcess() {}

    /** The folder is the only argument. */
    public static void main(String[] arguments) {
      try (TaskStore store = TaskStore.open(StoreOptions.in(Path.of(arguments[0])))) {
        store.commit(Transaction.by(Owner.client(2)).add("group", "stolen").build()).done();
        System.out.println(OPENED);
      } catch (StoreException e) {
        System.out.println(REFUSED + ": " + e.getMessage());
      }
    }
  }

  private static String openElsewhere(Path folder) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                OtherProcess.class.getName(),
                folder.toString())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      List<String> lines = process.inputReader().lines().toList();
      assertThat(process.waitFor()).as(String.join("\n", lines)).isZero();
      return lines.getLast();
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void another_process_is_refused_after_a_second_opening_in_this_one_was_refused()
      throws IOException, InterruptedException {
    Path folder = temporary.resolve("data");
    try (TaskStore store = TaskStore.open(StoreOptions.in(folder))) {
      Path link = Files.createSymbolicLink(temporary.resolve("link"), folder);
      for (Path path : List.of(folder, link, folder.resolve("../data"))) {
        assertThatThrownBy(() -> TaskStore.open(StoreOptions.in(path)))
            .hasMessageContaining("is in use");
      }
      assertThat(TaskStore.verify(folder).isSound()).isTrue();
      assertThat(openElsewhere(folder)).startsWith(REFUSED).contains("is in use");
      store.commit(Transaction.by(Owner.client(1)).add("group", "mine").build()).done();
    }
    assertThat(openElsewhere(folder)).isEqualTo(OPENED);
    TaskStore.open(StoreOptions.in(folder)).close();
  }

  @Test
  void the_lock_outlives_an_attempt_by_a_copy_of_the_program_in_another_class_loader()
      throws Exception {
    Path path = temporary.resolve("data");
    try (Folder folder = Environment.system().disk().folder(path)) {
      assertThat(folder.lock()).isTrue();
      for (int attempt = 0; attempt < 2; attempt++) {
        assertThat(lockInAnotherClassLoader(path)).isFalse();
      }
      assertThat(openElsewhere(path)).startsWith(REFUSED);
    }
    assertThat(openElsewhere(path)).isEqualTo(OPENED);
  }

  private static final URLClassLoader COPY =
      new URLClassLoader(
          Arrays.stream(System.getProperty("java.class.path").split(java.io.File.pathSeparator))
              .map(FolderLockTest::url)
              .toArray(URL[]::new),
          ClassLoader.getPlatformClassLoader());

  private static URL url(String entry) {
    try {
      return Path.of(entry).toUri().toURL();
    } catch (IOException e) {
      throw new AssertionError(entry, e);
    }
  }

  private static boolean lockInAnotherClassLoader(Path path) throws Exception {
    Class<?> copy = COPY.loadClass(LockAttempt.class.getName());
    return (boolean) copy.getMethod("lock", Path.class).invoke(null, path);
  }

  /** What is called in the copy. */
  public static final class LockAttempt {
    private LockAttempt() {}

    /** Whether the folder could be locked; gives it back if so. */
    public static boolean lock(Path path) throws IOException {
      try (Folder folder = Environment.system().disk().folder(path)) {
        return folder.lock();
      }
    }
  }

  @Test
  void a_folder_that_was_given_back_or_deleted_and_made_again_can_be_locked() throws IOException {
    Path path = temporary.resolve("data");
    Disk disk = Environment.system().disk();
    for (int round = 0; round < 3; round++) {
      try (Folder first = disk.folder(path);
          Folder second = disk.folder(path)) {
        assertThat(first.lock()).isTrue();
        assertThat(second.lock()).isFalse();
      }
      Files.delete(path.resolve("lock"));
      Files.delete(path);
    }
  }

  @Test
  void folders_are_made_with_their_ancestors_and_a_file_in_the_way_is_named() throws IOException {
    Path path = temporary.resolve("a/b/c");
    Disk disk = Environment.system().disk();
    disk.makeFolders(path);
    disk.makeFolders(path);
    assertThat(path).isDirectory();
    Path file = Files.createFile(temporary.resolve("file"));
    assertThatThrownBy(() -> disk.makeFolders(file)).hasMessageContaining(file.toString());
    assertThatThrownBy(() -> disk.makeFolders(file.resolve("below")))
        .hasMessageContaining(file.toString());
    assertThatThrownBy(() -> disk.open(temporary.resolve("absent")))
        .isInstanceOf(java.nio.file.NoSuchFileException.class);
    assertThat(temporary.resolve("absent")).doesNotExist();
  }
}
