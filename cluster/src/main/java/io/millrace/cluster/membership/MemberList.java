package io.millrace.cluster.membership;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The members of a cluster in the order in which they joined.
 *
 * @param nodes the members, each token once
 */
public record MemberList(List<Peer> nodes) {
  /** No members. */
  public static final MemberList EMPTY = new MemberList(List.of());

  /** Copies the list. */
  public MemberList {
    nodes = List.copyOf(nodes);
  }

  /** The member with a token. */
  public Optional<Peer> find(String token) {
    return nodes.stream().filter(peer -> peer.token().equals(token)).findFirst();
  }

  /** The place of a member, from 0; -1 if it is not in the list. */
  public int position(String token) {
    return IntStream.range(0, nodes.size())
        .filter(i -> nodes.get(i).token().equals(token))
        .findFirst()
        .orElse(-1);
  }

  /** The workers of all together. */
  public int workers() {
    return nodes.stream().mapToInt(Peer::workers).sum();
  }

  /** The list with a member at its end, or with its new number of workers at its old place. */
  public MemberList with(Peer peer) {
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
