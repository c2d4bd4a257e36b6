package io.millrace.cluster.membership;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.DocumentJson;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The members of a cluster in the order in which they joined. The document {@value #KEY} holds
 * them: {@code {"nodes": [{"token": T, "workers": N}, …]}}. Its changes are idempotent, so it does
 * not matter which attempt succeeded.
 *
 * @param nodes the members, each token once
 */
public record MemberList(List<Peer> nodes) {
  /** The key of the document. */
  public static final String KEY = "members";

  /** No members. */
  public static final MemberList EMPTY = new MemberList(List.of());

  /** Copies the list. */
  public MemberList {
    nodes = List.copyOf(nodes);
  }

  /** The members at present. */
  public static MemberList read(VersionedDocuments documents) {
    return read(documents.get(KEY));
  }

  private static MemberList read(Optional<VersionedDocument> document) {
    return document.map(MemberList::read).orElse(EMPTY);
  }

  /**
   * The members in the document.
   *
   * @throws ClusterException if it is damaged
   */
  public static MemberList read(VersionedDocument document) {
    return DocumentJson.read(document, "is damaged", MemberList.class);
  }

  /** Adds a member to the list, or sets its number of workers; returns the new list. */
  public static MemberList add(VersionedDocuments documents, Peer peer) {
    return change(documents, list -> list.with(peer));
  }

  /** Removes members from the list; returns the new list. */
  public static MemberList remove(VersionedDocuments documents, Set<String> tokens) {
    return change(documents, list -> list.without(tokens));
  }

  private static MemberList change(VersionedDocuments documents, UnaryOperator<MemberList> change) {
    return read(
        documents.update(
            KEY,
            found ->
                Optional.of(change.apply(read(found)))
                    .filter(after -> !after.equals(read(found)))
                    .map(after -> DocumentJson.object(after).toString())));
  }

  /** The member with a token. */
  public Optional<Peer> find(String token) {
    return nodes.stream().filter(peer -> peer.token().equals(token)).findFirst();
  }

  /** The index of a member, from 0; -1 if it is not in the list. */
  public int position(String token) {
    return IntStream.range(0, nodes.size())
        .filter(i -> nodes.get(i).token().equals(token))
        .findFirst()
        .orElse(-1);
  }

  /** The total number of workers. */
  public int workers() {
    return nodes.stream().mapToInt(Peer::workers).sum();
  }

  /** The list with a member at its end, or in its old place with its new number of workers. */
  private MemberList with(Peer peer) {
    if (find(peer.token()).isEmpty()) {
      return new MemberList(Stream.concat(nodes.stream(), Stream.of(peer)).toList());
    }
    return new MemberList(
        nodes.stream().map(old -> old.token().equals(peer.token()) ? peer : old).toList());
  }

  /** The list without some members. */
  public MemberList without(Set<String> tokens) {
    return new MemberList(nodes.stream().filter(peer -> !tokens.contains(peer.token())).toList());
  }
}
