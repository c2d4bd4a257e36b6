package io.millrace.cli.cluster;

import io.millrace.cli.terminal.UsageException;
import io.millrace.cluster.lambda.ClusterSecret;
import io.millrace.cluster.lambda.LambdaCodec;
import io.millrace.cluster.lambda.Trusted;
import io.millrace.cluster.member.Duty;
import io.millrace.cluster.remote.RemoteWork;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLClassLoader;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a member brings with it to run code that another sends: a secret, and users' classes. */
final class Remote implements AutoCloseable {
  private static final String PLAN = "plan";
  private static final String EXAMPLES = "io.millrace.cluster.example";

  private final @Nullable ClusterSecret secret;
  private final URLClassLoader classes;

  /**
   * What a member has.
   *
   * @param secret null where it runs nothing that others send
   * @param classes users' own; closed with this
   */
  Remote(@Nullable ClusterSecret secret, URLClassLoader classes) {
    this.secret = secret;
    this.classes = classes;
  }

  /**
   * Signs a plan.
   *
   * @throws UsageException where there is no secret
   */
  String sign(String plan) {
    return secret().sign(PLAN, plan);
  }

  /**
   * Checks that a plan was signed with this secret.
   *
   * @throws UsageException where it was not, or there is no secret
   */
  void check(String plan, String signature) {
    if (!secret().isSigned(PLAN, plan, signature)) {
      throw new UsageException(
          "the plan of this cluster was not signed with the secret of --secret-file");
    }
  }

  /** Has whichever member leads run this. */
  Duty duty(RemoteWork work) {
    return work.duty(new LambdaCodec(secret(), new Trusted(classes, Set.of(EXAMPLES))));
  }

  /**
   * Has whichever member leads run a users' program.
   *
   * @throws UsageException where there is none of that name, or it cannot be made
   */
  Duty duty(String program, Map<String, String> settings) {
    return duty(UsersProgram.make(program, settings, classes));
  }

  private ClusterSecret secret() {
    if (secret == null) {
      throw new UsageException(
          "members of this cluster run code that its leader sends them: give its secret, with"
              + " --secret-file FILE");
    }
    return secret;
  }

  @Override
  public void close() {
    try {
      classes.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
