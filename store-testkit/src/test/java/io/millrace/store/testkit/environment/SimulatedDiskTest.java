package io.millrace.store.testkit.environment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.environment.DiskFile;
import io.millrace.store.environment.Folder;
import io.millrace.store.testkit.environment.FileContent.Sector;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class SimulatedDiskTest {
  private static final Path PATH = Path.of("folder");

  @Test
  void what_was_synced_survives_every_crash() throws IOException {
    for (long seed = 0; seed < 50; seed++) {
      SimulatedDisk disk = disk(seed);
      Folder folder = disk.folder(PATH);
      DiskFile file = folder.open("f");
      write(file, 0, "kept");
      file.sync();
      folder.sync();
      write(file, 0, "lost");
      disk.crash();
      String found = read(disk, "f");
      assertThat(found).isIn("kept", "lost");
    }
  }

  @Test
  void what_was_not_synced_is_kept_lost_or_torn_by_sectors() throws IOException {
    Set<String> seen = new HashSet<>();
    for (long seed = 0; seed < 200; seed++) {
      SimulatedDisk disk = disk(seed);
      Folder folder = disk.folder(PATH);
      DiskFile file = folder.open("f");
      file.allocate(2 * Sector.SIZE);
      file.sync();
      folder.sync();
      file.write(0, ByteBuffer.wrap(filled(2 * Sector.SIZE)));
      disk.crash();
      byte[] found = readBytes(disk, "f");
      assertThat(found).hasSize(2 * Sector.SIZE);
      seen.add(sector(found, 0) + "" + sector(found, 1));
    }
    assertThat(seen).containsExactlyInAnyOrder("00", "01", "10", "11");
  }

  @Test
  void names_that_were_not_synced_may_be_lost() throws IOException {
    Set<Boolean> created = new HashSet<>();
    Set<String> renamed = new HashSet<>();
    for (long seed = 0; seed < 100; seed++) {
      SimulatedDisk disk = disk(seed);
      Folder folder = disk.folder(PATH);
      folder.open("old").close();
      folder.sync();
      folder.open("new").close();
      folder.rename("old", "renamed");
      assertThat(folder.list()).containsExactly("new", "renamed");
      disk.crash();
      Folder after = disk.folder(PATH);
      created.add(after.list().contains("new"));
      renamed.add(after.list().contains("old") ? "old" : "renamed");
      assertThat(after.list().contains("old")).isNotEqualTo(after.list().contains("renamed"));
    }
    assertThat(created).containsExactlyInAnyOrder(true, false);
    assertThat(renamed).containsExactlyInAnyOrder("old", "renamed");
  }

  @Test
  void a_folder_whose_name_was_not_synced_may_be_lost_with_all_that_is_in_it() throws IOException {
    Set<Boolean> survived = new HashSet<>();
    for (long seed = 0; seed < 100; seed++) {
      SimulatedDisk disk = disk(seed);
      Path outer = Path.of("outer");
      Path inner = outer.resolve("inner");
      disk.makeFolder(outer);
      disk.open(Path.of("")).sync();
      disk.makeFolder(inner);
      Folder folder = disk.open(inner);
      DiskFile file = folder.open("f");
      write(file, 0, "synced");
      file.sync();
      folder.sync();
      disk.crash();
      assertThat(disk.open(outer).list()).isEmpty();
      boolean there = true;
      try {
        disk.open(inner);
        assertThat(readBytes(disk.open(inner), "f"))
            .asString(StandardCharsets.UTF_8)
            .isEqualTo("synced");
      } catch (NoSuchFileException e) {
        there = false;
      }
      survived.add(there);
    }
    assertThat(survived).containsExactlyInAnyOrder(true, false);
  }

  @Test
  void made_folders_outlive_every_crash_whenever_an_earlier_one_came() throws IOException {
    Path path = Path.of("a/b/c");
    for (long seed = 0; seed < 200; seed++) {
      SimulatedDisk disk = disk(seed);
      boolean made = false;
      for (int stop = 1; !made; stop++) {
        disk.cutPowerAfter(stop);
        try {
          disk.makeFolders(path);
          made = true;
        } catch (IOException e) {
          assertThat(disk.powerOff()).isTrue();
          disk.crash();
        }
      }
      disk.mend();
      disk.crash();
      disk.open(path).close();
    }
  }

  @Test
  void a_folder_that_a_killed_process_has_left_unsynced_is_made_to_last() throws IOException {
    for (long seed = 0; seed < 50; seed++) {
      SimulatedDisk disk = disk(seed);
      disk.makeFolder(Path.of("a"));
      disk.open(Path.of("")).sync();
      disk.makeFolder(Path.of("a/b"));
      disk.folder(Path.of("a/b")).close();
      disk.crash();
      disk.open(Path.of("a/b")).close();
    }
  }

  @Test
  void a_file_opened_for_reading_cannot_be_changed_and_is_never_created() throws IOException {
    SimulatedDisk disk = disk(1);
    Folder folder = disk.folder(PATH);
    assertThatThrownBy(() -> folder.read("f")).isInstanceOf(NoSuchFileException.class);
    assertThat(folder.list()).isEmpty();
    write(folder.open("f"), 0, "content");
    long operations = disk.operations();
    DiskFile file = folder.read("f");
    assertThatThrownBy(() -> write(file, 0, "x")).hasMessageContaining("reading only");
    assertThatThrownBy(file::sync).hasMessageContaining("reading only");
    assertThatThrownBy(() -> file.truncate(1)).hasMessageContaining("reading only");
    assertThatThrownBy(() -> file.allocate(100)).hasMessageContaining("reading only");
    assertThat(disk.operations()).isEqualTo(operations);
  }

  @Test
  void a_failed_sync_may_lose_what_readers_still_see() throws IOException {
    Set<String> survivors = new HashSet<>();
    for (long seed = 0; seed < 100; seed++) {
      SimulatedDisk disk = disk(seed);
      Folder folder = disk.folder(PATH);
      DiskFile file = folder.open("f");
      write(file, 0, "one");
      file.sync();
      folder.sync();
      write(file, 0, "two");
      disk.failSyncAfter(1);
      assertThatThrownBy(file::sync).isInstanceOf(IOException.class);
      file.sync();
      assertThat(read(disk, "f")).isEqualTo("two");
      disk.crash();
      survivors.add(read(disk, "f"));
    }
    assertThat(survivors).containsExactlyInAnyOrder("one", "two");
  }

  @Test
  void the_power_goes_at_the_operation_asked_for_and_everything_fails_until_the_crash()
      throws IOException {
    SimulatedDisk disk = disk(1);
    Folder folder = disk.folder(PATH);
    DiskFile file = folder.open("f");
    disk.cutPowerAfter(2);
    write(file, 0, "x");
    assertThatThrownBy(file::sync).isInstanceOf(IOException.class);
    assertThat(disk.powerOff()).isTrue();
    assertThatThrownBy(folder::list).isInstanceOf(IOException.class);
    disk.crash();
    assertThat(disk.powerOff()).isFalse();
    assertThatThrownBy(file::size).as("opened before the crash").isInstanceOf(IOException.class);
    assertThat(disk.folder(PATH).list()).hasSizeLessThan(2);
  }

  @Test
  void a_full_disk_refuses_to_grow_but_lets_overwrite() throws IOException {
    SimulatedDisk disk = disk(1);
    DiskFile file = disk.folder(PATH).open("f");
    write(file, 0, "1234");
    disk.limitTo(6);
    write(file, 0, "5678");
    assertThatThrownBy(() -> file.allocate(7)).hasMessageContaining("no space");
    assertThatThrownBy(() -> write(file, 4, "xyz")).hasMessageContaining("no space");
    write(file, 4, "xy");
    assertThat(disk.usedBytes()).isEqualTo(6);
  }

  @Test
  void a_folder_is_locked_once_and_free_after_closing_or_a_crash() throws IOException {
    SimulatedDisk disk = disk(1);
    Folder first = disk.folder(PATH);
    assertThat(first.lock()).isTrue();
    assertThat(disk.folder(PATH).lock()).isFalse();
    first.close();
    assertThat(disk.folder(PATH).lock()).isTrue();
    disk.crash();
    assertThat(disk.folder(PATH).lock()).isTrue();
  }

  @Test
  void what_is_cut_off_reads_as_zeros_when_the_file_grows_again() throws IOException {
    SimulatedDisk disk = disk(1);
    DiskFile file = disk.folder(PATH).open("f");
    write(file, 0, "abcdef");
    file.truncate(2);
    file.allocate(4);
    assertThat(read(disk, "f")).isEqualTo("ab\0\0");
  }

  private static SimulatedDisk disk(long seed) {
    return new SimulatedDisk(new SplittableRandom(seed));
  }

  private static byte[] filled(int size) {
    byte[] bytes = new byte[size];
    Arrays.fill(bytes, (byte) 1);
    return bytes;
  }

  private static int sector(byte[] content, int index) {
    byte first = content[index * Sector.SIZE];
    for (int i = 0; i < Sector.SIZE; i++) {
      assertThat(content[index * Sector.SIZE + i]).as("a sector is never torn").isEqualTo(first);
    }
    return first;
  }

  private static void write(DiskFile file, long offset, String text) throws IOException {
    file.write(offset, ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
  }

  private static String read(SimulatedDisk disk, String name) throws IOException {
    return new String(readBytes(disk, name), StandardCharsets.UTF_8);
  }

  private static byte[] readBytes(SimulatedDisk disk, String name) throws IOException {
    return readBytes(disk.folder(PATH), name);
  }

  private static byte[] readBytes(Folder folder, String name) throws IOException {
    DiskFile file = folder.open(name);
    ByteBuffer content = ByteBuffer.allocate((int) file.size());
    file.read(0, content);
    return content.array();
  }
}
