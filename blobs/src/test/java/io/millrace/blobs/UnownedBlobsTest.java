package io.millrace.blobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UnownedBlobsTest {
  private final BlobStore blobs;

  UnownedBlobsTest(@TempDir Path folder) {
    blobs = FileBlobStore.open(folder);
    for (String name : Set.of("mine-1", "mine-2", "mine-odd", "other-1")) {
      blobs.put(name, new ByteArrayInputStream(new byte[1]));
    }
  }

  private Set<String> names() {
    try (var all = blobs.list("")) {
      return Set.copyOf(all.map(Blob::name).toList());
    }
  }

  @Test
  void candidates_without_an_owner_are_deleted() {
    UnownedBlobs.sweep(
        blobs,
        "mine-",
        Instant.MAX,
        name -> !name.endsWith("odd"),
        names -> names.remove("mine-2"));
    assertThat(names()).containsExactlyInAnyOrder("mine-2", "mine-odd", "other-1");
  }

  @Test
  void blobs_that_are_too_young_are_kept_and_their_owners_are_not_looked_for() {
    UnownedBlobs.sweep(
        blobs,
        "mine-",
        Instant.now().minusSeconds(60),
        _ -> true,
        _ -> {
          throw new AssertionError("there is nothing to look for");
        });
    assertThat(names()).hasSize(4);
  }
}
