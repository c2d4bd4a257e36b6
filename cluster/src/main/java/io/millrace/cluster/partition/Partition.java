package io.millrace.cluster.partition;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.lock.LockDocument;
import io.millrace.cluster.lock.PartitionTask;
import io.millrace.cluster.lock.Sightings;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A partition as it was listed.
 *
 * @param name its name
 * @param document its document
 * @param lock what that says
 * @param charge its work
 */
public record Partition(
    PartitionName name, VersionedDocument document, LockDocument lock, PartitionTask charge) {
  private static final Logger LOG = LoggerFactory.getLogger(Partition.class);

  /** The partitions among documents, by name. What is none is passed over, and logged. */
  public static List<Partition> of(List<VersionedDocument> documents, Sightings sightings) {
    List<Partition> partitions = new ArrayList<>();
    for (VersionedDocument document : documents) {
      try {
        read(document, sightings).ifPresent(partitions::add);
      } catch (ClusterException e) {
        LOG.warn("Document {} is no partition: {}", document.key(), e.getMessage());
      }
    }
    Set<String> keys = documents.stream().map(VersionedDocument::key).collect(Collectors.toSet());
    sightings.retain(PartitionName.PREFIX, keys);
    partitions.sort(Comparator.comparing(Partition::name));
    return partitions;
  }

  private static Optional<Partition> read(VersionedDocument document, Sightings sightings) {
    return of(document, sightings.see(document));
  }

  /**
   * The partition that a document holds; empty where it is none.
   *
   * @param lock what the document says
   */
  public static Optional<Partition> of(VersionedDocument document, LockDocument lock) {
    Optional<PartitionName> name = PartitionName.of(document.key());
    PartitionTask charge = lock.charge();
    return name.isEmpty() || charge == null
        ? Optional.empty()
        : Optional.of(new Partition(name.get(), document, lock, charge));
  }

  /** The key of its document. */
  public String key() {
    return document.key();
  }

  /** Whether it is to be worked on, or is worked on. */
  public boolean isOutstanding() {
    return charge.state() == PartitionTask.State.OUTSTANDING;
  }

  /** Whether it was worked on with success. */
  public boolean isDone() {
    return charge.state() == PartitionTask.State.DONE;
  }

  /** What it was made for. */
  public byte[] task() {
    return Base64.getDecoder().decode(charge.task());
  }
}
