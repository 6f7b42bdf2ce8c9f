//! The stage's render pass: a few draws into an image of its own, which run only when something has changed.
//!
//! The pass is independent of Bevy's cameras: the main world hands over a [`StageFrame`], and one system in the render
//! world uploads what differs and draws.

use std::sync::Arc;

use attune_ui::theme::GROUPS;
use bevy::asset::uuid_handle;
use bevy::math::{UVec2, Vec4};
use bevy::mesh::VertexBufferLayout;
use bevy::prelude::*;
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::binding_types::{storage_buffer_read_only_sized, uniform_buffer};
use bevy::render::render_resource::{
    BindGroupEntries, BindGroupLayoutDescriptor, BindGroupLayoutEntries, BlendState, Buffer, BufferDescriptor,
    BufferUsages, CachedRenderPipelineId, ColorTargetState, ColorWrites, CommandEncoderDescriptor, CompareFunction,
    DepthBiasState, DepthStencilState, Extent3d, FragmentState, LoadOp, MultisampleState, Operations, PipelineCache,
    PrimitiveState, PrimitiveTopology, RenderPassColorAttachment, RenderPassDepthStencilAttachment,
    RenderPassDescriptor, RenderPipeline, RenderPipelineDescriptor, ShaderStages, ShaderType, StencilState, StoreOp,
    Texture, TextureDescriptor, TextureDimension, TextureFormat, TextureId, TextureUsages, TextureView,
    TextureViewDescriptor, UniformBuffer, VertexAttribute, VertexFormat, VertexState, VertexStepMode,
};
use bevy::render::renderer::{RenderDevice, RenderQueue, render_system};
use bevy::render::texture::GpuImage;
use bevy::render::{Extract, ExtractSchedule, GpuResourceAppExt, Render, RenderApp, RenderSystems};
use bevy::shader::Shader;

use super::geometry::INSTANCE_FLOATS;

pub const COLOR_FORMAT: TextureFormat = TextureFormat::Rgba8UnormSrgb;
const DEPTH_FORMAT: TextureFormat = TextureFormat::Depth32Float;
const SHADER: Handle<Shader> = uuid_handle!("8a6a5b1e-54a9-4d0e-9f5f-3b7f6b3c2d11");
/// Corners of the triangle around a disc.
const DISC_CORNERS: u32 = 3;
/// Corners of the rectangle around a line.
const LINE_CORNERS: u32 = 4;
/// Number of points above which each is drawn once, instead of first its inside and then its edge.
const CROWD: u32 = 3000;
const FLOAT_BYTES: usize = size_of::<f32>();
const INSTANCE_BYTES: usize = INSTANCE_FLOATS * FLOAT_BYTES;

/// Uniform that changes with time and camera, as in the shader's `Stage`.
#[derive(ShaderType, Clone, Copy, Debug, Default, PartialEq)]
pub struct StageUniform {
    pub clip_from_world: Mat4,
    /// The background's colour, and the height of the ground.
    pub background: Vec4,
    pub viewport: Vec4,
    pub range: Vec4,
    pub sizes: Vec4,
    /// Hues of the groups.
    pub hues: [Vec4; GROUPS],
}

/// A complete picture of the stage.
#[derive(Resource, Clone, Default)]
pub struct StageFrame {
    /// Bytes of the points; a different `Arc` is uploaded again.
    pub points: Arc<Vec<u8>>,
    /// Number of leading points that lie under all others.
    pub under: u32,
    pub lines: Arc<Vec<u8>>,
    pub uniform: StageUniform,
    /// The image that the pass draws into; `None` until the stage has a size.
    pub target: Option<Handle<Image>>,
}

impl StageFrame {
    fn shows_the_same(&self, other: &StageFrame) -> bool {
        Arc::ptr_eq(&self.points, &other.points)
            && Arc::ptr_eq(&self.lines, &other.lines)
            && self.uniform == other.uniform
            && self.target == other.target
    }
}

pub fn plugin(app: &mut App) {
    app.init_resource::<StageFrame>();
    let shader = Shader::from_wgsl(include_str!("stage.wgsl"), file!());
    // The id is a constant, so there is always room for it.
    let _ = app.world_mut().resource_mut::<Assets<Shader>>().insert(&SHADER, shader);
    let Some(render_app) = app.get_sub_app_mut(RenderApp) else { return };
    render_app
        .init_resource::<StageFrame>()
        .init_gpu_resource::<StageGpu>()
        .add_systems(ExtractSchedule, extract_frame)
        .add_systems(Render, draw_stage.in_set(RenderSystems::Render).before(render_system));
}

fn extract_frame(frame: Extract<Res<StageFrame>>, mut extracted: ResMut<StageFrame>) {
    if frame.is_changed() {
        *extracted = frame.clone();
    }
}

/// Resources of the pass on the graphics card.
#[derive(Resource, Default)]
struct StageGpu {
    pipelines: Option<Pipelines>,
    uniform: UniformBuffer<StageUniform>,
    points: Option<Uploaded>,
    /// Number of leading points that lie under all others; see [`StageFrame::under`].
    under: u32,
    lines: Option<Uploaded>,
    depth: Option<(UVec2, TextureView)>,
    drawn: Option<(StageFrame, TextureId)>,
}

struct Uploaded {
    source: Arc<Vec<u8>>,
    buffer: Buffer,
    count: u32,
}

#[derive(Clone)]
struct Pipelines {
    /// Layouts of the bindings of lines and of discs.
    layouts: [BindGroupLayoutDescriptor; 2],
    core: CachedRenderPipelineId,
    edge: CachedRenderPipelineId,
    whole: CachedRenderPipelineId,
    lines: CachedRenderPipelineId,
}

/// Pipelines that are compiled and can draw.
struct CompiledPipelines<'a> {
    core: &'a RenderPipeline,
    edge: &'a RenderPipeline,
    whole: &'a RenderPipeline,
    lines: &'a RenderPipeline,
}

/// Blending of a fragment with the picture behind it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Blending {
    /// An opaque fragment, which hides what is behind it.
    Covers,
    /// A transparent fragment, which blends with what is behind it and hides nothing.
    Blends,
    Both,
}

impl Pipelines {
    fn queue(cache: &PipelineCache) -> Pipelines {
        let uniform = || uniform_buffer::<StageUniform>(false);
        let stages = ShaderStages::VERTEX_FRAGMENT;
        let of_lines =
            BindGroupLayoutDescriptor::new("stage_lines", &BindGroupLayoutEntries::single(stages, uniform()));
        let entries =
            BindGroupLayoutEntries::sequential(stages, (uniform(), storage_buffer_read_only_sized(false, None)));
        let of_discs = BindGroupLayoutDescriptor::new("stage_discs", &entries);
        let disc = |fragment, blending| cache.queue_render_pipeline(disc_descriptor(&of_discs, fragment, blending));
        Pipelines {
            core: disc("disc_core", Blending::Covers),
            edge: disc("disc_edge", Blending::Blends),
            whole: disc("disc_whole", Blending::Both),
            lines: cache.queue_render_pipeline(line_descriptor(&of_lines)),
            layouts: [of_lines, of_discs],
        }
    }

    fn compiled<'a>(&self, cache: &'a PipelineCache) -> Option<CompiledPipelines<'a>> {
        let get = |id| cache.get_render_pipeline(id);
        Some(CompiledPipelines {
            core: get(self.core)?,
            edge: get(self.edge)?,
            whole: get(self.whole)?,
            lines: get(self.lines)?,
        })
    }
}

/// Returns the pipeline of discs: a list of triangles whose vertices read their instance from a buffer.
fn disc_descriptor(
    layout: &BindGroupLayoutDescriptor,
    fragment: &'static str,
    blending: Blending,
) -> RenderPipelineDescriptor {
    descriptor(layout, ("disc_vertex", fragment), blending, Vec::new(), PrimitiveTopology::TriangleList)
}

fn line_descriptor(layout: &BindGroupLayoutDescriptor) -> RenderPipelineDescriptor {
    let entries = ("line_vertex", "line_fragment");
    descriptor(layout, entries, Blending::Blends, vec![instance_layout()], PrimitiveTopology::TriangleStrip)
}

fn descriptor(
    layout: &BindGroupLayoutDescriptor,
    (vertex, fragment): (&'static str, &'static str),
    blending: Blending,
    buffers: Vec<VertexBufferLayout>,
    topology: PrimitiveTopology,
) -> RenderPipelineDescriptor {
    RenderPipelineDescriptor {
        label: Some(format!("stage_{fragment}").into()),
        layout: vec![layout.clone()],
        vertex: VertexState { shader: SHADER, shader_defs: Vec::new(), entry_point: Some(vertex.into()), buffers },
        fragment: Some(FragmentState {
            shader: SHADER,
            shader_defs: Vec::new(),
            entry_point: Some(fragment.into()),
            targets: vec![Some(ColorTargetState {
                format: COLOR_FORMAT,
                blend: (blending != Blending::Covers).then_some(BlendState::ALPHA_BLENDING),
                write_mask: ColorWrites::ALL,
            })],
        }),
        primitive: PrimitiveState { topology, ..default() },
        depth_stencil: Some(DepthStencilState {
            format: DEPTH_FORMAT,
            depth_write_enabled: Some(blending != Blending::Blends),
            depth_compare: Some(CompareFunction::LessEqual),
            stencil: StencilState::default(),
            bias: DepthBiasState::default(),
        }),
        multisample: MultisampleState::default(),
        immediate_size: 0,
        zero_initialize_workgroup_memory: false,
    }
}

fn instance_layout() -> VertexBufferLayout {
    const FIELDS: [(VertexFormat, usize); 4] = [
        (VertexFormat::Float32x3, 0),
        (VertexFormat::Float32x3, 3),
        (VertexFormat::Float32x4, 6),
        (VertexFormat::Float32x2, 10),
    ];
    let attributes = FIELDS
        .iter()
        .zip(0..)
        .map(|(&(format, floats), shader_location)| VertexAttribute {
            format,
            offset: (floats * FLOAT_BYTES) as u64,
            shader_location,
        })
        .collect();
    VertexBufferLayout { array_stride: INSTANCE_BYTES as u64, step_mode: VertexStepMode::Instance, attributes }
}

/// Uploads what differs from the last picture and draws, or returns at once if nothing does.
fn draw_stage(
    frame: Res<StageFrame>,
    mut gpu: ResMut<StageGpu>,
    images: Res<RenderAssets<GpuImage>>,
    cache: Res<PipelineCache>,
    device: Res<RenderDevice>,
    queue: Res<RenderQueue>,
) {
    let pipelines = gpu.pipelines.get_or_insert_with(|| Pipelines::queue(&cache)).clone();
    let (Some(target), Some(compiled)) =
        (frame.target.as_ref().and_then(|target| images.get(target)), pipelines.compiled(&cache))
    else {
        return;
    };
    let id = target.texture.id();
    if gpu.drawn.as_ref().is_some_and(|(drawn, on)| *on == id && drawn.shows_the_same(&frame)) {
        return;
    }
    gpu.upload(&frame, &device, &queue);
    gpu.keep_depth(target.size_2d(), &device);
    gpu.draw(&pipelines.layouts, compiled, &target.texture_view, &cache, &device, &queue);
    gpu.drawn = Some((frame.clone(), id));
}

impl StageGpu {
    fn upload(&mut self, frame: &StageFrame, device: &RenderDevice, queue: &RenderQueue) {
        self.uniform.set(frame.uniform);
        self.uniform.write_buffer(device, queue);
        keep_uploaded(&mut self.points, &frame.points, device, queue);
        self.under = frame.under;
        keep_uploaded(&mut self.lines, &frame.lines, device, queue);
    }

    fn keep_depth(&mut self, size: UVec2, device: &RenderDevice) {
        if self.depth.as_ref().is_none_or(|(kept, _)| *kept != size) {
            let view = depth_texture(size, device).create_view(&TextureViewDescriptor::default());
            self.depth = Some((size, view));
        }
    }

    fn draw(
        &self,
        layouts: &[BindGroupLayoutDescriptor; 2],
        compiled: CompiledPipelines,
        target: &TextureView,
        cache: &PipelineCache,
        device: &RenderDevice,
        queue: &RenderQueue,
    ) {
        let (Some(uniform), Some((_, depth))) = (self.uniform.binding(), &self.depth) else { return };
        let [of_lines, of_discs] = layouts.each_ref().map(|layout| cache.get_bind_group_layout(layout));
        let lines = self.lines.as_ref().map(|lines| {
            (lines, device.create_bind_group("stage lines", &of_lines, &BindGroupEntries::single(uniform.clone())))
        });
        let discs = self.points.as_ref().map(|points| {
            let entries = BindGroupEntries::sequential((uniform, points.buffer.as_entire_binding()));
            (points.count, device.create_bind_group("stage discs", &of_discs, &entries))
        });
        let mut encoder = device.create_command_encoder(&CommandEncoderDescriptor { label: Some("stage") });
        {
            let mut pass = encoder.begin_render_pass(&RenderPassDescriptor {
                label: Some("stage"),
                color_attachments: &[Some(RenderPassColorAttachment {
                    view: target,
                    depth_slice: None,
                    resolve_target: None,
                    ops: Operations {
                        // The image is transparent where nothing is drawn, so that what the tab paints below it shows
                        // through.
                        load: LoadOp::Clear(LinearRgba::NONE.into()),
                        store: StoreOp::Store,
                    },
                })],
                depth_stencil_attachment: Some(RenderPassDepthStencilAttachment {
                    view: depth,
                    depth_ops: Some(Operations { load: LoadOp::Clear(1.0), store: StoreOp::Discard }),
                    stencil_ops: None,
                }),
                timestamp_writes: None,
                occlusion_query_set: None,
                multiview_mask: None,
            });
            let count = discs.as_ref().map_or(0, |(count, _)| *count);
            let (is_crowd, under) = (count > CROWD, self.under.min(count));
            // `None` stands for the lines, which are drawn between or after the discs.
            let draws = match is_crowd {
                true => vec![Some((compiled.edge, 0..under)), Some((compiled.whole, under..count)), None],
                false => vec![Some((compiled.core, 0..count)), None, Some((compiled.edge, 0..count))],
            };
            for draw in draws {
                if let (Some((pipeline, range)), Some((_, group))) = (&draw, &discs) {
                    pass.set_pipeline(pipeline);
                    pass.set_bind_group(0, &**group, &[]);
                    pass.draw(range.start * DISC_CORNERS..range.end * DISC_CORNERS, 0..1);
                } else if let (None, Some((lines, group))) = (&draw, &lines) {
                    pass.set_pipeline(compiled.lines);
                    pass.set_bind_group(0, &**group, &[]);
                    pass.set_vertex_buffer(0, *lines.buffer.slice(..));
                    pass.draw(0..LINE_CORNERS, 0..lines.count);
                }
            }
        }
        queue.submit([encoder.finish()]);
    }
}

/// Uploads `source` unless it is what was uploaded last.
fn keep_uploaded(uploaded: &mut Option<Uploaded>, source: &Arc<Vec<u8>>, device: &RenderDevice, queue: &RenderQueue) {
    if uploaded.as_ref().is_some_and(|kept| Arc::ptr_eq(&kept.source, source)) {
        return;
    }
    *uploaded = (!source.is_empty()).then(|| Uploaded {
        source: source.clone(),
        buffer: buffer_of(source, device, queue),
        count: (source.len() / INSTANCE_BYTES) as u32,
    });
}

/// Creates a buffer and then writes it, because wgpu panics if it does both at once on a lost device.
fn buffer_of(contents: &[u8], device: &RenderDevice, queue: &RenderQueue) -> Buffer {
    let buffer = device.create_buffer(&BufferDescriptor {
        label: Some("stage instances"),
        size: contents.len() as u64,
        usage: BufferUsages::VERTEX | BufferUsages::STORAGE | BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    queue.write_buffer(&buffer, 0, contents);
    buffer
}

fn depth_texture(size: UVec2, device: &RenderDevice) -> Texture {
    device.create_texture(&TextureDescriptor {
        label: Some("stage depth"),
        size: Extent3d { width: size.x, height: size.y, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: TextureDimension::D2,
        format: DEPTH_FORMAT,
        usage: TextureUsages::RENDER_ATTACHMENT,
        view_formats: &[],
    })
}
