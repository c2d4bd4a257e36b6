package io.millrace.cluster.shared;

import io.millrace.cluster.documents.DocumentJson;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * The members that wait for a named lock or a semaphore, in the order in which they joined: the
 * document {@code waiting/KEY}, {@code {"waiting": [TOKEN, …], "key": KEY, "fence": N}}. It only
 * determines the order; a member that takes a lock out of turn still holds it. Its changes are
 * idempotent.
 *
 * @param waiting the tokens of the members, each once
 * @param key the permit that was released last while members waited; empty if none was
 * @param fence the fence of its last holder, so that each release changes the document
 */
record WaitingQueue(List<String> waiting, String key, long fence) {
  /** The prefix of the keys of all queues; the key of the lock or semaphore follows. */
  static final String PREFIX = "waiting/";

  static final WaitingQueue EMPTY = new WaitingQueue(List.of(), "", 0);

  WaitingQueue {
    waiting = List.copyOf(waiting);
  }

  /** The key of the queue for a lock or semaphore. */
  static String key(String of) {
    return PREFIX + of;
  }

  static WaitingQueue read(VersionedDocuments documents, String key) {
    return read(documents.get(key));
  }

  private static WaitingQueue read(Optional<VersionedDocument> document) {
    return document
        .map(found -> DocumentJson.read(found, "is damaged", WaitingQueue.class))
        .orElse(EMPTY);
  }

  /** Adds a member at the end unless it is in the queue already; returns the new queue. */
  static WaitingQueue join(VersionedDocuments documents, String key, String token) {
    return change(
        documents,
        key,
        queue ->
            queue.isWaiting(token)
                ? queue
                : queue.with(Stream.concat(queue.waiting.stream(), Stream.of(token)).toList()));
  }

  /**
   * Removes a member.
   *
   * @param withAllBefore whether to remove also the members before it, or all if it is absent
   */
  static void leave(VersionedDocuments documents, String key, String token, boolean withAllBefore) {
    change(
        documents,
        key,
        queue ->
            withAllBefore
                ? queue.with(queue.waiting.stream().skip(queue.place(token) + 1L).toList())
                : queue.with(
                    queue.waiting.stream().filter(other -> !other.equals(token)).toList()));
  }

  /** Records that a permit was released, if any member is waiting. */
  static void recordReleased(VersionedDocuments documents, String key, String permit, long fence) {
    change(
        documents,
        key,
        queue -> queue.waiting.isEmpty() ? queue : new WaitingQueue(queue.waiting, permit, fence));
  }

  private static WaitingQueue change(
      VersionedDocuments documents, String key, UnaryOperator<WaitingQueue> change) {
    return read(
        documents.update(
            key,
            found ->
                Optional.of(change.apply(read(found)))
                    .filter(after -> !after.equals(read(found)))
                    .map(after -> DocumentJson.object(after).toString())));
  }

  private WaitingQueue with(List<String> tokens) {
    return new WaitingQueue(tokens, key, fence);
  }

  boolean isWaiting(String token) {
    return waiting.contains(token);
  }

  /** The number of members before this one; all of them if it is not in the queue. */
  int place(String token) {
    int place = waiting.indexOf(token);
    return place < 0 ? waiting.size() : place;
  }

  /** The permit that was released last. */
  Optional<String> released() {
    return Optional.of(key).filter(name -> !name.isEmpty());
  }
}
