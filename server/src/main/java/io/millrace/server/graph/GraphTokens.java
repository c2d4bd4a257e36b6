package io.millrace.server.graph;

import io.millrace.graph.Caller;
import io.millrace.graph.GraphNode;
import io.millrace.graph.NodeId;
import io.millrace.graph.Phase;
import io.millrace.http.AccessCheck.Credentials;
import io.millrace.http.Caller.Role;
import io.millrace.http.message.Headers;
import io.millrace.http.message.HttpProblem;
import io.millrace.server.security.Token;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * The tokens of commands that run as nodes: a node, an attempt, and a code that only the holder of
 * the graph's secret can compute. A token is valid only while its attempt runs. Safe for use by
 * threads.
 */
public final class GraphTokens implements Credentials {
  private static final String ALGORITHM = "HmacSHA256";
  private static final Pattern FORM =
      Pattern.compile("graph-([1-9][0-9]{0,15})-([1-9][0-9]{0,8})-([A-Za-z0-9_-]{43})");

  private final Supplier<byte[]> secret;
  private final Function<NodeId, Optional<GraphNode>> nodes;

  /**
   * The tokens of a graph.
   *
   * @param secret returns its secret, at least one byte, which does not change once there is a node
   * @param nodes returns a node as it is now
   */
  public GraphTokens(Supplier<byte[]> secret, Function<NodeId, Optional<GraphNode>> nodes) {
    this.secret = secret;
    this.nodes = nodes;
  }

  /** What refuses every such token with 401: a standby may not know yet that its attempt runs. */
  static Credentials ofLeader() {
    return headers -> {
      String token = Token.bearer(headers.only(Headers.AUTHORIZATION)).orElse("");
      if (FORM.matcher(token).matches()) {
        throw new HttpProblem(401, "only the leader knows the tokens of running commands");
      }
      return null;
    };
  }

  /**
   * The reach of a running command: the nodes below its own.
   *
   * @param node the node, with its attempt
   */
  record Subtree(Caller.RunningNode node) implements io.millrace.http.Caller.Reach {
    /** The token opens the routes of the graph alone, and the graph itself limits its changes. */
    @Override
    public boolean coversEverything() {
      return true;
    }

    @Override
    public boolean includes(Area area, String name) {
      return area == Area.GRAPH;
    }

    @Override
    public boolean includesAny(Area area) {
      return area == Area.GRAPH;
    }
  }

  @Override
  public io.millrace.http.@Nullable Caller caller(Headers headers) {
    String token = Token.bearer(headers.only(Headers.AUTHORIZATION)).orElse("");
    if (!FORM.matcher(token).matches()) {
      return null;
    }
    Caller.RunningNode node =
        holder(token)
            .orElseThrow(
                () -> new HttpProblem(403, "this token is not that of an attempt that runs now"));
    return new io.millrace.http.Caller(
        "graph node " + node.id(), Role.OPERATOR.andBelow(), new Subtree(node));
  }

  @Override
  public boolean isGuessable() {
    return false;
  }

  /** The token of an attempt. */
  public String of(NodeId id, int attempt) {
    return "graph-" + id + "-" + attempt + "-" + code(id, attempt);
  }

  /** The holder of this token; empty if it is not a token, or its attempt does not run. */
  public Optional<Caller.RunningNode> holder(String token) {
    Matcher parts = FORM.matcher(token);
    if (!parts.matches()) {
      return Optional.empty();
    }
    NodeId id = NodeId.parse(parts.group(1)).orElse(null);
    int attempt = Integer.parseInt(parts.group(2));
    if (id == null || !isSame(parts.group(3), code(id, attempt))) {
      return Optional.empty();
    }
    return nodes
        .apply(id)
        .filter(
            node -> node.phase() instanceof Phase.Running running && running.attempt() == attempt)
        .map(_ -> new Caller.RunningNode(id, attempt));
  }

  private String code(NodeId id, int attempt) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(secret.get(), ALGORITHM));
      byte[] code = mac.doFinal((id + "/" + attempt).getBytes(StandardCharsets.US_ASCII));
      return Base64.getUrlEncoder().withoutPadding().encodeToString(code);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this JDK has no " + ALGORITHM, e);
    }
  }

  /** Takes the same time wherever they differ. */
  private static boolean isSame(String offered, String right) {
    return MessageDigest.isEqual(
        offered.getBytes(StandardCharsets.US_ASCII), right.getBytes(StandardCharsets.US_ASCII));
  }
}
