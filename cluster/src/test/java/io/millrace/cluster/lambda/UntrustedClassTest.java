package io.millrace.cluster.lambda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.cluster.gadget.Gadget;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Signed envelopes that are not deserialized. */
final class UntrustedClassTest {
  private final LambdaCodec codec = TestCodecs.codec();

  @Test
  void an_untrusted_class_is_refused_by_name_and_never_instantiated() {
    Gadget gadget = new Gadget();
    refused(gadget, Gadget.class);
    refused(new Gadget[] {gadget}, Gadget.class);
    refused(new Gadget[0], Gadget.class);
    refused(new ArrayList<>(List.of(gadget)), Gadget.class);
    refused(Map.of("a", List.of(gadget)), Gadget.class);
    refused(Gadget.class, Gadget.class);
    refused(new ConcurrentHashMap<>(Map.of("a", "b")), ConcurrentHashMap.class);
  }

  @Test
  void a_lambda_that_captures_an_untrusted_class_is_refused() {
    Gadget gadget = new Gadget();
    LambdaCodec.SealedLambda sealed =
        codec.openLambda(
            TestCodecs.trustingAll().sealLambda(TestCodecs.HERE, () -> gadget.hashCode()));
    int before = Gadget.made();
    assertThatThrownBy(sealed::lambda)
        .isInstanceOf(RefusedLambdaException.class)
        .hasMessageContaining("class " + Gadget.class.getName() + " is not trusted");
    assertThat(Gadget.made()).isEqualTo(before);
  }

  @Test
  void a_lambda_that_is_written_in_an_untrusted_class_is_refused() {
    refused(Gadget.lambda(), Gadget.class);
    refused(Map.Entry.comparingByKey(), Map.Entry.class);
  }

  private void refused(Object object, Class<?> type) {
    byte[] envelope = TestCodecs.trustingAll().sealResult(TestCodecs.HERE, object);
    int before = Gadget.made();
    assertThatThrownBy(() -> codec.openResult(TestCodecs.HERE, envelope))
        .isInstanceOf(RefusedLambdaException.class)
        .hasMessageContaining(type.getName())
        .hasMessageContaining("is not trusted");
    assertThat(Gadget.made()).isEqualTo(before);
    assertThatThrownBy(() -> codec.sealResult(TestCodecs.HERE, object))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(type.getName())
        .hasMessageContaining("is not trusted");
  }

  @Test
  void dynamic_proxies_are_refused() {
    Object proxy =
        Proxy.newProxyInstance(
            getClass().getClassLoader(), new Class<?>[] {Serializable.class}, new Handler());
    assertThatThrownBy(() -> codec.sealResult(TestCodecs.HERE, proxy))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("$Proxy")
        .hasMessageContaining("it is not trusted");
    byte[] envelope = TestCodecs.seal(plain(proxy));
    assertThatThrownBy(() -> codec.openResult(TestCodecs.HERE, envelope))
        .isInstanceOf(RefusedLambdaException.class)
        .hasMessage("dynamic proxies are not trusted");
  }

  @Test
  void too_deep_or_too_many_objects_are_refused() {
    List<Object> deep = List.of();
    for (int i = 0; i < 70; i++) {
      deep = List.of(deep);
    }
    limited(deep, "more than 64 levels");
    List<Object> many = new ArrayList<>();
    for (int i = 1_000; i < 31_000; i++) {
      many.add((short) i);
      many.add((short) -i);
    }
    limited(many, "more than 50000 references");
  }

  private static byte[] plain(Object object) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream output = new ObjectOutputStream(bytes)) {
      output.writeObject(object);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  private static final class Handler implements InvocationHandler, Serializable {
    private static final long serialVersionUID = 1;

    @Override
    public @Nullable Object invoke(
        Object proxy, Method method, @Nullable Object @Nullable [] arguments) {
      return null;
    }
  }

  private void limited(Object object, String why) {
    byte[] envelope = codec.sealResult(TestCodecs.HERE, object);
    assertThatThrownBy(() -> codec.openResult(TestCodecs.HERE, envelope))
        .isInstanceOf(RefusedLambdaException.class)
        .hasMessageContaining(why);
  }

  @Test
  void an_envelope_of_a_lambda_that_holds_something_else_is_refused() {
    byte[] object = TrustedSerialization.write("text", TrustedClasses.packages("io.millrace"));
    byte[] envelope =
        new Envelope(Envelope.Kind.LAMBDA, TestCodecs.HERE, object).seal(TestCodecs.SECRET);
    LambdaCodec.SealedLambda sealed = codec.openLambda(envelope);
    assertThatThrownBy(sealed::lambda)
        .isInstanceOf(RefusedLambdaException.class)
        .hasMessage("it holds something that is no lambda");
  }

  @Test
  void bytes_that_are_no_serialized_object_are_refused() {
    byte[] object = TrustedSerialization.write("text", TrustedClasses.packages("io.millrace"));
    for (byte[] bytes :
        List.of(new byte[0], new byte[9], Arrays.copyOf(object, object.length + 1))) {
      byte[] envelope = TestCodecs.seal(bytes);
      assertThatThrownBy(() -> codec.openResult(TestCodecs.HERE, envelope))
          .isInstanceOf(RefusedLambdaException.class);
    }
  }
}
