package io.millrace.cluster.lambda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.cluster.gadget.Gadget;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Envelopes that nobody may open: none of them gets as far as an object. */
final class ForeignEnvelopeTest {
  private final LambdaCodec codec = Sealing.careless();
  private final byte[] envelope = Sealing.careless().sealResult(Sealing.HERE, new Gadget());

  @Test
  void one_that_is_signed_with_another_secret_is_refused() {
    LambdaCodec stranger =
        new LambdaCodec(
            Sealing.secret("another one of 20 b."), TrustedClasses.packages("io.millrace"));
    refused(stranger.sealResult(Sealing.HERE, new Gadget()), "not signed with this cluster's");
  }

  @Test
  void one_without_a_signature_is_refused() {
    byte[] unsigned = envelope.clone();
    Arrays.fill(unsigned, 1, 33, (byte) 0);
    refused(unsigned, "not signed with this cluster's secret");
  }

  @Test
  void one_with_any_bit_changed_is_refused() {
    for (int i = 0; i < envelope.length * Byte.SIZE; i++) {
      byte[] changed = envelope.clone();
      changed[i / Byte.SIZE] ^= (byte) (1 << i % Byte.SIZE);
      refused(changed, "not signed with this cluster's secret");
    }
  }

  @Test
  void one_that_was_cut_off_or_went_on_is_refused() {
    for (int length = 0; length < envelope.length; length++) {
      refused(Arrays.copyOf(envelope, length), length < 33 ? "too short" : "not signed");
    }
    refused(Arrays.copyOf(envelope, envelope.length + 1), "not signed");
  }

  @Test
  void one_that_is_too_large_is_refused_before_its_signature_is_looked_at() {
    refused(Arrays.copyOf(envelope, LambdaCodec.MAX_BYTES + 1), "it has 524289 bytes, more than");
  }

  @Test
  void the_one_that_was_left_as_it_is_makes_an_object() {
    int before = Gadget.made();
    assertThatCode(() -> codec.openResult(Sealing.HERE, envelope)).doesNotThrowAnyException();
    assertThat(Gadget.made()).isEqualTo(before + 1);
  }

  private void refused(byte[] bytes, String why) {
    int before = Gadget.made();
    assertThatThrownBy(() -> codec.openResult(Sealing.HERE, bytes))
        .isInstanceOf(RefusedLambdaException.class)
        .hasMessageContaining(why);
    assertThatThrownBy(() -> codec.openLambda(bytes))
        .isInstanceOf(RefusedLambdaException.class)
        .hasMessageContaining(why);
    assertThat(Gadget.made()).isEqualTo(before);
  }
}
