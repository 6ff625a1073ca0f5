package io.elbowroom.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * SummarizerService is what a summarizer backend of your own implements, in any language. Elbowroom is its client: it has
 * written the prompt and taken secrets out before it calls, and it checks every answer before it uses it, so the service
 * only has to run a model on a prompt. Neither retrying nor judging the answer is its task.
 * A call that fails ends with the status that says why: UNAUTHENTICATED or PERMISSION_DENIED when a key is not accepted,
 * NOT_FOUND when there is no such model, INVALID_ARGUMENT when the request cannot be served, OUT_OF_RANGE when the prompt does
 * not fit the model, RESOURCE_EXHAUSTED when there are too many calls (a google.rpc.RetryInfo detail says when to come
 * back), UNAVAILABLE for anything that will pass. The call's deadline is the time left for the answer; a call that was
 * cancelled is wanted no more and should stop its model.
 * Where the server offers grpc.health.v1.Health, no call is made while the service "" is not SERVING.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class SummarizerServiceGrpc {

  private SummarizerServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "elbowroom.v1.SummarizerService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<io.elbowroom.v1.SummarizeRequest,
      io.elbowroom.v1.SummarizeResponse> getSummarizeMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "Summarize",
      requestType = io.elbowroom.v1.SummarizeRequest.class,
      responseType = io.elbowroom.v1.SummarizeResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<io.elbowroom.v1.SummarizeRequest,
      io.elbowroom.v1.SummarizeResponse> getSummarizeMethod() {
    io.grpc.MethodDescriptor<io.elbowroom.v1.SummarizeRequest, io.elbowroom.v1.SummarizeResponse> getSummarizeMethod;
    if ((getSummarizeMethod = SummarizerServiceGrpc.getSummarizeMethod) == null) {
      synchronized (SummarizerServiceGrpc.class) {
        if ((getSummarizeMethod = SummarizerServiceGrpc.getSummarizeMethod) == null) {
          SummarizerServiceGrpc.getSummarizeMethod = getSummarizeMethod =
              io.grpc.MethodDescriptor.<io.elbowroom.v1.SummarizeRequest, io.elbowroom.v1.SummarizeResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "Summarize"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.elbowroom.v1.SummarizeRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  io.elbowroom.v1.SummarizeResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SummarizerServiceMethodDescriptorSupplier("Summarize"))
              .build();
        }
      }
    }
    return getSummarizeMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static SummarizerServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<SummarizerServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<SummarizerServiceStub>() {
        @java.lang.Override
        public SummarizerServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new SummarizerServiceStub(channel, callOptions);
        }
      };
    return SummarizerServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static SummarizerServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<SummarizerServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<SummarizerServiceBlockingV2Stub>() {
        @java.lang.Override
        public SummarizerServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new SummarizerServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return SummarizerServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static SummarizerServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<SummarizerServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<SummarizerServiceBlockingStub>() {
        @java.lang.Override
        public SummarizerServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new SummarizerServiceBlockingStub(channel, callOptions);
        }
      };
    return SummarizerServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static SummarizerServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<SummarizerServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<SummarizerServiceFutureStub>() {
        @java.lang.Override
        public SummarizerServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new SummarizerServiceFutureStub(channel, callOptions);
        }
      };
    return SummarizerServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * SummarizerService is what a summarizer backend of your own implements, in any language. Elbowroom is its client: it has
   * written the prompt and taken secrets out before it calls, and it checks every answer before it uses it, so the service
   * only has to run a model on a prompt. Neither retrying nor judging the answer is its task.
   * A call that fails ends with the status that says why: UNAUTHENTICATED or PERMISSION_DENIED when a key is not accepted,
   * NOT_FOUND when there is no such model, INVALID_ARGUMENT when the request cannot be served, OUT_OF_RANGE when the prompt does
   * not fit the model, RESOURCE_EXHAUSTED when there are too many calls (a google.rpc.RetryInfo detail says when to come
   * back), UNAVAILABLE for anything that will pass. The call's deadline is the time left for the answer; a call that was
   * cancelled is wanted no more and should stop its model.
   * Where the server offers grpc.health.v1.Health, no call is made while the service "" is not SERVING.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * Summarize answers one prompt with one text.
     * </pre>
     */
    default void summarize(io.elbowroom.v1.SummarizeRequest request,
        io.grpc.stub.StreamObserver<io.elbowroom.v1.SummarizeResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getSummarizeMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service SummarizerService.
   * <pre>
   * SummarizerService is what a summarizer backend of your own implements, in any language. Elbowroom is its client: it has
   * written the prompt and taken secrets out before it calls, and it checks every answer before it uses it, so the service
   * only has to run a model on a prompt. Neither retrying nor judging the answer is its task.
   * A call that fails ends with the status that says why: UNAUTHENTICATED or PERMISSION_DENIED when a key is not accepted,
   * NOT_FOUND when there is no such model, INVALID_ARGUMENT when the request cannot be served, OUT_OF_RANGE when the prompt does
   * not fit the model, RESOURCE_EXHAUSTED when there are too many calls (a google.rpc.RetryInfo detail says when to come
   * back), UNAVAILABLE for anything that will pass. The call's deadline is the time left for the answer; a call that was
   * cancelled is wanted no more and should stop its model.
   * Where the server offers grpc.health.v1.Health, no call is made while the service "" is not SERVING.
   * </pre>
   */
  public static abstract class SummarizerServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return SummarizerServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service SummarizerService.
   * <pre>
   * SummarizerService is what a summarizer backend of your own implements, in any language. Elbowroom is its client: it has
   * written the prompt and taken secrets out before it calls, and it checks every answer before it uses it, so the service
   * only has to run a model on a prompt. Neither retrying nor judging the answer is its task.
   * A call that fails ends with the status that says why: UNAUTHENTICATED or PERMISSION_DENIED when a key is not accepted,
   * NOT_FOUND when there is no such model, INVALID_ARGUMENT when the request cannot be served, OUT_OF_RANGE when the prompt does
   * not fit the model, RESOURCE_EXHAUSTED when there are too many calls (a google.rpc.RetryInfo detail says when to come
   * back), UNAVAILABLE for anything that will pass. The call's deadline is the time left for the answer; a call that was
   * cancelled is wanted no more and should stop its model.
   * Where the server offers grpc.health.v1.Health, no call is made while the service "" is not SERVING.
   * </pre>
   */
  public static final class SummarizerServiceStub
      extends io.grpc.stub.AbstractAsyncStub<SummarizerServiceStub> {
    private SummarizerServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected SummarizerServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new SummarizerServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * Summarize answers one prompt with one text.
     * </pre>
     */
    public void summarize(io.elbowroom.v1.SummarizeRequest request,
        io.grpc.stub.StreamObserver<io.elbowroom.v1.SummarizeResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getSummarizeMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service SummarizerService.
   * <pre>
   * SummarizerService is what a summarizer backend of your own implements, in any language. Elbowroom is its client: it has
   * written the prompt and taken secrets out before it calls, and it checks every answer before it uses it, so the service
   * only has to run a model on a prompt. Neither retrying nor judging the answer is its task.
   * A call that fails ends with the status that says why: UNAUTHENTICATED or PERMISSION_DENIED when a key is not accepted,
   * NOT_FOUND when there is no such model, INVALID_ARGUMENT when the request cannot be served, OUT_OF_RANGE when the prompt does
   * not fit the model, RESOURCE_EXHAUSTED when there are too many calls (a google.rpc.RetryInfo detail says when to come
   * back), UNAVAILABLE for anything that will pass. The call's deadline is the time left for the answer; a call that was
   * cancelled is wanted no more and should stop its model.
   * Where the server offers grpc.health.v1.Health, no call is made while the service "" is not SERVING.
   * </pre>
   */
  public static final class SummarizerServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<SummarizerServiceBlockingV2Stub> {
    private SummarizerServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected SummarizerServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new SummarizerServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * Summarize answers one prompt with one text.
     * </pre>
     */
    public io.elbowroom.v1.SummarizeResponse summarize(io.elbowroom.v1.SummarizeRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getSummarizeMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service SummarizerService.
   * <pre>
   * SummarizerService is what a summarizer backend of your own implements, in any language. Elbowroom is its client: it has
   * written the prompt and taken secrets out before it calls, and it checks every answer before it uses it, so the service
   * only has to run a model on a prompt. Neither retrying nor judging the answer is its task.
   * A call that fails ends with the status that says why: UNAUTHENTICATED or PERMISSION_DENIED when a key is not accepted,
   * NOT_FOUND when there is no such model, INVALID_ARGUMENT when the request cannot be served, OUT_OF_RANGE when the prompt does
   * not fit the model, RESOURCE_EXHAUSTED when there are too many calls (a google.rpc.RetryInfo detail says when to come
   * back), UNAVAILABLE for anything that will pass. The call's deadline is the time left for the answer; a call that was
   * cancelled is wanted no more and should stop its model.
   * Where the server offers grpc.health.v1.Health, no call is made while the service "" is not SERVING.
   * </pre>
   */
  public static final class SummarizerServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<SummarizerServiceBlockingStub> {
    private SummarizerServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected SummarizerServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new SummarizerServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * Summarize answers one prompt with one text.
     * </pre>
     */
    public io.elbowroom.v1.SummarizeResponse summarize(io.elbowroom.v1.SummarizeRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getSummarizeMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service SummarizerService.
   * <pre>
   * SummarizerService is what a summarizer backend of your own implements, in any language. Elbowroom is its client: it has
   * written the prompt and taken secrets out before it calls, and it checks every answer before it uses it, so the service
   * only has to run a model on a prompt. Neither retrying nor judging the answer is its task.
   * A call that fails ends with the status that says why: UNAUTHENTICATED or PERMISSION_DENIED when a key is not accepted,
   * NOT_FOUND when there is no such model, INVALID_ARGUMENT when the request cannot be served, OUT_OF_RANGE when the prompt does
   * not fit the model, RESOURCE_EXHAUSTED when there are too many calls (a google.rpc.RetryInfo detail says when to come
   * back), UNAVAILABLE for anything that will pass. The call's deadline is the time left for the answer; a call that was
   * cancelled is wanted no more and should stop its model.
   * Where the server offers grpc.health.v1.Health, no call is made while the service "" is not SERVING.
   * </pre>
   */
  public static final class SummarizerServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<SummarizerServiceFutureStub> {
    private SummarizerServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected SummarizerServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new SummarizerServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * Summarize answers one prompt with one text.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<io.elbowroom.v1.SummarizeResponse> summarize(
        io.elbowroom.v1.SummarizeRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getSummarizeMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_SUMMARIZE = 0;

  private static final class MethodHandlers<Req, Resp> implements
      io.grpc.stub.ServerCalls.UnaryMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ServerStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ClientStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.BidiStreamingMethod<Req, Resp> {
    private final AsyncService serviceImpl;
    private final int methodId;

    MethodHandlers(AsyncService serviceImpl, int methodId) {
      this.serviceImpl = serviceImpl;
      this.methodId = methodId;
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public void invoke(Req request, io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        case METHODID_SUMMARIZE:
          serviceImpl.summarize((io.elbowroom.v1.SummarizeRequest) request,
              (io.grpc.stub.StreamObserver<io.elbowroom.v1.SummarizeResponse>) responseObserver);
          break;
        default:
          throw new AssertionError();
      }
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public io.grpc.stub.StreamObserver<Req> invoke(
        io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        default:
          throw new AssertionError();
      }
    }
  }

  public static final io.grpc.ServerServiceDefinition bindService(AsyncService service) {
    return io.grpc.ServerServiceDefinition.builder(getServiceDescriptor())
        .addMethod(
          getSummarizeMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              io.elbowroom.v1.SummarizeRequest,
              io.elbowroom.v1.SummarizeResponse>(
                service, METHODID_SUMMARIZE)))
        .build();
  }

  private static abstract class SummarizerServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    SummarizerServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return io.elbowroom.v1.SummarizerProto.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("SummarizerService");
    }
  }

  private static final class SummarizerServiceFileDescriptorSupplier
      extends SummarizerServiceBaseDescriptorSupplier {
    SummarizerServiceFileDescriptorSupplier() {}
  }

  private static final class SummarizerServiceMethodDescriptorSupplier
      extends SummarizerServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    SummarizerServiceMethodDescriptorSupplier(java.lang.String methodName) {
      this.methodName = methodName;
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.MethodDescriptor getMethodDescriptor() {
      return getServiceDescriptor().findMethodByName(methodName);
    }
  }

  private static volatile io.grpc.ServiceDescriptor serviceDescriptor;

  public static io.grpc.ServiceDescriptor getServiceDescriptor() {
    io.grpc.ServiceDescriptor result = serviceDescriptor;
    if (result == null) {
      synchronized (SummarizerServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new SummarizerServiceFileDescriptorSupplier())
              .addMethod(getSummarizeMethod())
              .build();
        }
      }
    }
    return result;
  }
}
