package io.millrace.processes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileTreeTest {
  @TempDir private Path folder;

  @Test
  void a_folder_goes_with_all_that_is_in_it_and_what_links_lead_to_stays() throws IOException {
    Path outside = Files.createDirectory(folder.resolve("outside"));
    Files.writeString(outside.resolve("kept"), "x");
    Path tree = folder.resolve("tree");
    Files.createDirectories(tree.resolve("below/empty"));
    Files.writeString(tree.resolve("below/file"), "x");
    Files.createSymbolicLink(tree.resolve("link"), outside);
    Files.createSymbolicLink(tree.resolve("broken"), folder.resolve("nowhere"));

    FileTree.remove(tree);

    assertThat(tree).doesNotExist();
    assertThat(outside.resolve("kept")).exists();
  }

  @Test
  void a_file_or_a_link_goes_alone() throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "x");
    Path link = Files.createSymbolicLink(folder.resolve("link"), file);

    FileTree.remove(link);

    assertThat(Files.exists(link, LinkOption.NOFOLLOW_LINKS)).isFalse();
    assertThat(file).exists();
    FileTree.remove(file);
    assertThat(file).doesNotExist();
  }

  @Test
  void what_is_not_there_is_no_error() {
    assertThatCode(() -> FileTree.remove(folder.resolve("nothing"))).doesNotThrowAnyException();
  }
}
