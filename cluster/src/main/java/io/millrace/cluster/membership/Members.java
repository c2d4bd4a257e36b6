package io.millrace.cluster.membership;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.UnclearOutcomeException;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The document {@value #KEY}: {@code {"nodes": [{"token": T, "workers": N}, …]}}. Each change is
 * made to the version that was read, and made again on a newer one; as it only puts in what is
 * missing or takes out what is there, it need not know which attempt came through. Safe for use by
 * any number of threads.
 */
public final class Members {
  /** The key of the document. */
  public static final String KEY = "members";

  private static final JsonMapper MAPPER = JsonMapper.builder().build();
  private static final int ATTEMPTS = 20;

  private final VersionedDocuments documents;

  /** The members that these documents know. */
  public Members(VersionedDocuments documents) {
    this.documents = documents;
  }

  /** The members at present. */
  public MemberList list() {
    return documents.get(KEY).map(Members::read).orElse(MemberList.EMPTY);
  }

  /** Sees to it that a member is in the list, with its number of workers. */
  public MemberList ensure(Peer peer) {
    return change(list -> list.with(peer));
  }

  /** Takes members out of the list. */
  public MemberList remove(Set<String> tokens) {
    return change(list -> list.without(tokens));
  }

  private MemberList change(UnaryOperator<MemberList> change) {
    for (int i = 0; i < ATTEMPTS; i++) {
      Optional<VersionedDocument> document = documents.get(KEY);
      MemberList before = document.map(Members::read).orElse(MemberList.EMPTY);
      MemberList after = change.apply(before);
      if (after.equals(before)) {
        return before;
      }
      Version expected = document.map(VersionedDocument::version).orElse(Version.NONE);
      if (documents.put(KEY, expected, write(after)).isPresent()) {
        return after;
      }
    }
    throw new UnclearOutcomeException("the list of members changed under every attempt");
  }

  private static String write(MemberList list) {
    ObjectNode json = MAPPER.createObjectNode();
    ArrayNode nodes = json.putArray("nodes");
    for (Peer peer : list.nodes()) {
      nodes.addObject().put("token", peer.token()).put("workers", peer.workers());
    }
    return MAPPER.writeValueAsString(json);
  }

  /**
   * Reads the document.
   *
   * @throws ClusterException where it is no list of members
   */
  private static MemberList read(VersionedDocument document) {
    try {
      List<Peer> nodes = new ArrayList<>();
      for (JsonNode node : MAPPER.readTree(document.json()).path("nodes")) {
        nodes.add(new Peer(node.path("token").asString(""), node.path("workers").asInt(0)));
      }
      return new MemberList(nodes);
    } catch (JacksonException | IllegalArgumentException e) {
      throw new ClusterException("document " + KEY + " is damaged: " + e.getMessage(), e);
    }
  }
}
