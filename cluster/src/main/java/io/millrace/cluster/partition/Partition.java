package io.millrace.cluster.partition;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.lock.LockDocument;
import io.millrace.cluster.lock.ObservedLocks;
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
 * A partition as it was read.
 *
 * @param name its name
 * @param document its document
 * @param lock the content of the document
 * @param task its work
 */
public record Partition(
    PartitionName name, VersionedDocument document, LockDocument lock, LockDocument.Task task) {
  private static final Logger LOG = LoggerFactory.getLogger(Partition.class);

  /** The partitions among documents, sorted by name. Other documents are logged and ignored. */
  public static List<Partition> of(List<VersionedDocument> documents, ObservedLocks observedLocks) {
    List<Partition> partitions = new ArrayList<>();
    for (VersionedDocument document : documents) {
      try {
        of(document, observedLocks.observe(document)).ifPresent(partitions::add);
      } catch (ClusterException e) {
        LOG.warn("Document {} is not a partition: {}", document.key(), e.getMessage());
      }
    }
    Set<String> keys = documents.stream().map(VersionedDocument::key).collect(Collectors.toSet());
    observedLocks.retain(PartitionName.PREFIX, keys);
    partitions.sort(Comparator.comparing(Partition::name));
    return partitions;
  }

  /**
   * The partition in a document; empty if it is not a partition.
   *
   * @param lock the content of the document
   */
  public static Optional<Partition> of(VersionedDocument document, LockDocument lock) {
    Optional<PartitionName> name = PartitionName.of(document.key());
    LockDocument.Task task = lock.task();
    return name.isEmpty() || task == null
        ? Optional.empty()
        : Optional.of(new Partition(name.get(), document, lock, task));
  }

  /** The key of its document. */
  public String key() {
    return document.key();
  }

  /** Whether its work is not done yet. */
  public boolean isOutstanding() {
    return task.state() == LockDocument.State.OUTSTANDING;
  }

  /** Whether its work was done successfully. */
  public boolean isDone() {
    return task.state() == LockDocument.State.DONE;
  }

  /** The work, as the leader serialized it. */
  public byte[] taskBytes() {
    return Base64.getDecoder().decode(task.encoded());
  }
}
